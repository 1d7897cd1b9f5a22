// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/protocol/shared_memory.hpp>

namespace troupe {

/// From now on this process, when it dies of a signal, says in `note` which one, where, and what the thread worked on.
/// It still dies of that signal. Not under the address sanitizer, which reports such signals itself.
void leave_last_words_in(protocol::crash_note& note) noexcept;

/// The thread works on this request while it lives.
class working_on {
 public:
  [[nodiscard]] explicit working_on(std::uint64_t ticket) noexcept { ticket_ = ticket; }
  ~working_on() { ticket_ = 0; }
  working_on(const working_on&) = delete;
  static std::uint64_t ticket() noexcept { return ticket_; }

 private:
  static thread_local constinit std::uint64_t ticket_;
};

/// Room for a thread to speak in when its own stack has overflowed. Lives as long as the thread runs.
class room_for_last_words {
 public:
  [[nodiscard]] room_for_last_words() noexcept;
  ~room_for_last_words();
  room_for_last_words(const room_for_last_words&) = delete;

 private:
  void* memory_;
};

}  // namespace troupe
