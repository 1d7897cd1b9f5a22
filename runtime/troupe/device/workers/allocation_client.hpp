// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <troupe/channel/control_socket.hpp>
#include <troupe/protocol/memory_question.hpp>
#include <vector>

namespace troupe {

/// Where device memory is not the application's to make: asks a worker for it. Any thread, also while the worker ends;
/// the memory outlives it.
class allocation_client {
 public:
  explicit allocation_client(control_socket worker) noexcept : worker_(std::move(worker)) {}

  /// Waits until the worker is ready, if it is yet to start. `context_lost` when it is gone, `retry_later` when the
  /// answer does not come in time, or this program has no descriptor left for it.
  result<file_descriptor> make(std::uint64_t bytes, std::int64_t deadline_ns);
  /// Whether somebody else's memory can be opened, all of it. Answers no descriptor.
  result<file_descriptor> try_to_open(const file_descriptor& memory, std::uint64_t bytes, std::int64_t deadline_ns);
  /// Memory that only this worker has, where it likes; returns the address.
  result<std::uint64_t> make_managed(std::uint64_t bytes, std::int64_t deadline_ns);
  /// It is not used any more. Does not wait.
  void release_managed(std::uint64_t address) noexcept;
  /// It has ended, or answers nonsense: it is not asked again.
  bool is_gone() const noexcept { return gone_.load(); }

  /// Nobody answered in time: `retry_later` with the code ETIMEDOUT, see segment_source::prepare.
  static error late(std::string text);

 private:
  struct answer {
    file_descriptor memory;
    std::uint64_t address;
  };
  result<answer> ask(protocol::wanted_memory wanted, const file_descriptor* opens, std::int64_t deadline_ns);

  void tell_unwanted() noexcept;

  std::atomic<std::uint32_t> busy_{0};  // somebody has asked, and gets the answer
  std::uint64_t asked_ = 0;             // his
  std::uint64_t heard_ = 0;             // the last that was answered; each is once, in their order
  std::atomic<bool> gone_{false};
  std::mutex sending_;  // while something is sent, or the socket given up
  control_socket worker_;
  std::vector<std::uint64_t> unwanted_;  // managed memory that it is yet to be told of
};

}  // namespace troupe
