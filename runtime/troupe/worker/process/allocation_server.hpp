// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <thread>
#include <troupe/channel/control_socket.hpp>
#include <troupe/protocol/memory_question.hpp>
#include <troupe/worker/plugins/platform.hpp>
#include <troupe/worker/process/task_queue.hpp>

namespace troupe {

/// The worker's end of the socket on which the application asks for memory. A thread answers: it allocates device
/// memory, which the application keeps after the worker's end, and managed memory, which ends with the worker.
class allocation_server {
 public:
  /// `gpu` is null on the host. `enter` is called first on each thread that uses the platform.
  allocation_server(control_socket questions, platform* gpu, std::function<void()> enter);
  allocation_server(const allocation_server&) = delete;
  /// Frees the managed memory. Precondition: the threads have ended, and nothing uses that memory any more.
  ~allocation_server();

  /// Throws std::system_error if a thread cannot be started; `stop` must still be called.
  void start();
  /// Ends the threads.
  void stop();
  /// Abandons the threads in a process that is about to exit.
  void detach();

 private:
  void serve();
  bool answer(const protocol::wanted_memory& wanted, const result<control_socket::received>& got);
  result<file_descriptor> make(const protocol::wanted_memory& wanted, const result<control_socket::received>& got,
                               std::uint64_t& address);
  result<std::uint64_t> make_managed(std::uint64_t bytes);
  void free_managed(std::uint64_t address, std::uint64_t bytes) noexcept;

  control_socket questions_;
  platform* gpu_;
  std::function<void()> enter_;
  std::map<std::uint64_t, std::uint64_t> managed_;  // managed memory: bytes by address
  std::optional<task_queue> releases_;              // frees managed memory, which waits for running work
  std::thread thread_;
};

}  // namespace troupe
