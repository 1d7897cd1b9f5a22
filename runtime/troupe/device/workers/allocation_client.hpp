// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <troupe/channel/control_socket.hpp>
#include <troupe/protocol/memory_question.hpp>
#include <vector>

namespace troupe {

/// Asks a worker to allocate device memory, which the application cannot allocate itself. The memory outlives the
/// worker. Thread-safe, even while the worker ends.
class allocation_client {
 public:
  explicit allocation_client(control_socket worker) noexcept : worker_(std::move(worker)) {}
  ~allocation_client() { worker_.close_elsewhere(); }
  allocation_client(const allocation_client&) = delete;

  /// Sets `tell`, which is called once if the worker sends an invalid answer, with the reason, or has closed the
  /// socket, with an empty one. Must be called before anything is asked.
  void when_unfit(std::function<void(const std::string& why)> tell) { tell_ = std::move(tell); }

  /// Allocates memory. Waits until the worker is ready if it is still starting. Fails with `context_lost` if the worker
  /// has ended, and with `retry_later` if it does not answer in time or this process has no free descriptor.
  result<file_descriptor> make(std::uint64_t bytes, std::int64_t deadline_ns);
  /// Checks that the worker can map all of another owner's memory. On success the returned descriptor is empty.
  result<file_descriptor> try_to_open(const file_descriptor& memory, std::uint64_t bytes, std::int64_t deadline_ns);
  /// Allocates managed memory, which exists only in this worker. Returns the address that the worker chose.
  result<std::uint64_t> make_managed(std::uint64_t bytes, std::int64_t deadline_ns);
  /// Releases managed memory. Does not wait.
  void release_managed(std::uint64_t address) noexcept;
  /// Returns true if the worker has ended or has sent an invalid answer. It is then not asked again.
  bool is_gone() const noexcept { return gone_.load(); }

  /// Returns the error of a missing answer: `retry_later` with the code ETIMEDOUT, see segment_source::prepare.
  static error timeout_error(std::string text);

 private:
  struct answer {
    file_descriptor memory;
    std::uint64_t address;
  };
  result<answer> ask(protocol::wanted_memory wanted, const file_descriptor* opens, std::int64_t deadline_ns);

  void send_releases() noexcept;

  std::atomic<std::uint32_t> busy_{0};  // 1 while a thread asks; that thread owns the next two
  std::uint64_t last_asked_ = 0;
  std::uint64_t last_answered_ = 0;  // each question is answered once, in order
  std::atomic<bool> gone_{false};
  std::function<void(const std::string&)> tell_ = [](const std::string&) {};
  std::mutex sending_;  // held while a message is sent or the socket is closed
  control_socket worker_;
  std::vector<std::uint64_t> to_release_;  // managed memory whose release has yet to be sent to the worker
};

}  // namespace troupe
