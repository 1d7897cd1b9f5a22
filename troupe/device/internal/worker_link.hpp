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

  /// `addresses` is kept until the worker has ended. `id` is the supervisor's.
  static result<std::unique_ptr<worker_link>> make(std::uint32_t id, enum isolation isolation,
                                                   std::shared_ptr<const region> addresses,
                                                   std::uint64_t channel_bytes);
  ~worker_link();
  worker_link(const worker_link&) = delete;

  /// Sends the greeting. First of all messages.
  result<void> greet(const protocol::worker_settings& settings, const std::string& text, const memory_file& mailbox);
  /// Starts the worker. On the thread that lives as long as it: see die_with_parent.
  result<void> launch(const std::string& program, const std::vector<std::string>& environment);
  /// Memory messages, in order. Any thread. Never waits for a worker that does not read them: retry_later.
  result<void> send_map(std::uint64_t address, const memory_file& memory, std::uint32_t number);
  result<void> send_unmap(std::uint64_t address, std::uint32_t number);
  result<void> send_serve(const protocol::service& s);
  void send_stop() noexcept;
  void kill() noexcept;

  /// The next message, without blocking.
  news receive();
  /// How a process ended; nothing while it runs or when it is a thread.
  std::optional<exit_status> ended() noexcept;

  std::uint32_t id() const noexcept { return id_; }
  const std::shared_ptr<const memory_file>& channel() const noexcept { return channel_; }
  /// Has a process ended by then? Waits for it.
  bool ends_by(std::int64_t deadline_ns) noexcept;
  /// Kills a process, and waits for its end until the deadline. A thread has ended when its end of the socket is
  /// closed.
  bool has_ended(std::int64_t deadline_ns) noexcept;
  int socket_fd() const noexcept { return socket_.fd(); }
  /// Readable when the process has ended; -1 for a thread.
  int exit_fd() const noexcept { return process_ ? process_->pidfd() : -1; }
  int pid() const noexcept { return process_ ? process_->pid() : 0; }

 private:
  explicit worker_link(memory_file channel) : channel_(std::make_shared<const memory_file>(std::move(channel))) {}
  result<void> send_memory(protocol::message kind, const protocol::memory_place& place, int fd);

  std::uint32_t id_ = 0;
  enum isolation isolation_ = isolation::process;
  std::shared_ptr<const region> addresses_;
  std::shared_ptr<const memory_file> channel_;
  bool gone_ = false;
  control_socket socket_, theirs_;
  std::mutex sending_;
  std::optional<process> process_;
  std::thread thread_;
};

}  // namespace troupe
