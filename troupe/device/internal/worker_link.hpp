// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <troupe/channel/control_socket.hpp>
#include <troupe/channel/memory_file.hpp>
#include <troupe/channel/process.hpp>
#include <troupe/device/internal/region.hpp>
#include <troupe/device/options.hpp>
#include <troupe/worker/internal/protocol.hpp>

namespace troupe {

/// The application's hold on one worker: its process or thread, and the socket for rare messages.
class worker_link {
 public:
  struct news {
    enum class kind : std::uint8_t { none, ready, failed, gone };
    news::kind kind = news::kind::none;
    std::string text;
    reaction how = reaction::fatal;
  };

  /// `addresses` is kept until the worker has ended.
  static result<std::unique_ptr<worker_link>> make(enum isolation isolation, region addresses);
  ~worker_link();
  worker_link(const worker_link&) = delete;

  /// Sends the greeting. First of all messages.
  result<void> greet(const protocol::worker_settings& settings, const std::string& text, const memory_file& channel);
  /// Starts the worker. On the thread that lives as long as it: see die_with_parent.
  result<void> launch(const std::string& program, const std::vector<std::string>& environment);
  /// Memory messages, in order; answers how many have been sent. Any thread. Never waits for a worker that does not
  /// read them: retry_later.
  result<std::uint32_t> send_map(std::uint64_t address, const memory_file& memory);
  result<std::uint32_t> send_unmap(std::uint64_t address);
  void send_stop() noexcept;
  void kill() noexcept;

  /// The next message, without blocking.
  news receive();
  /// How a process ended; nothing while it runs or when it is a thread.
  std::optional<exit_status> ended() noexcept;

  int socket_fd() const noexcept { return socket_.fd(); }
  /// Readable when the process has ended; -1 for a thread.
  int exit_fd() const noexcept { return process_ ? process_->pidfd() : -1; }
  int pid() const noexcept { return process_ ? process_->pid() : 0; }

 private:
  worker_link() = default;
  result<std::uint32_t> send_memory(protocol::message kind, std::uint64_t address, std::uint64_t bytes, int fd);

  enum isolation isolation_ = isolation::process;
  region addresses_;
  control_socket socket_, theirs_;
  std::mutex sending_;
  std::uint32_t sent_ = 0;
  std::optional<process> process_;
  std::thread thread_;
};

}  // namespace troupe
