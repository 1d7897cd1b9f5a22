// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/protocol/shared_memory.hpp>

namespace troupe {

/// Makes this process write to `note` if it dies of a signal: which signal, at which address, and what the thread was
/// running. The process still dies of that signal. Does nothing under the address sanitizer, which reports such signals
/// itself.
void write_last_words_to(protocol::crash_note& note) noexcept;

/// Notes that the thread works on this request, as long as this object lives.
class working_on {
 public:
  [[nodiscard]] explicit working_on(std::uint64_t ticket) noexcept { ticket_ = ticket; }
  ~working_on() { ticket_ = 0; }
  working_on(const working_on&) = delete;
  static std::uint64_t ticket() noexcept { return ticket_; }

 private:
  static thread_local constinit std::uint64_t ticket_;
};

/// A second stack, on which the thread's signal handlers run even if its own stack has overflowed. Must exist as long
/// as the thread runs.
class signal_stack {
 public:
  [[nodiscard]] signal_stack() noexcept;
  ~signal_stack();
  signal_stack(const signal_stack&) = delete;

 private:
  void* memory_;
};

}  // namespace troupe
