// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <troupe/channel/control_socket.hpp>

namespace troupe {

/// Where device memory is not the application's to make: asks a worker for it. Any thread, also while the worker ends;
/// the memory outlives it.
class memory_maker {
 public:
  explicit memory_maker(control_socket worker) noexcept : worker_(std::move(worker)) {}

  /// Waits until the worker is ready, if it is yet to start. `context_lost` when it is gone.
  result<file_descriptor> make(std::uint64_t bytes, std::int64_t deadline_ns);
  /// Whether somebody else's memory can be opened, all of it. Answers no descriptor.
  result<file_descriptor> try_to_open(const file_descriptor& memory, std::uint64_t bytes, std::int64_t deadline_ns);

 private:
  result<file_descriptor> ask(std::uint64_t bytes, const file_descriptor* opens, std::int64_t deadline_ns);

  std::mutex lock_;
  control_socket worker_;
};

}  // namespace troupe
