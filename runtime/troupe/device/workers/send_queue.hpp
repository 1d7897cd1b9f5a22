// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <troupe/channel/control_socket.hpp>
#include <troupe/channel/memory_file.hpp>
#include <vector>

namespace troupe {

/// What a worker is told, in order. While it starts it reads nothing, and there may be a message for each of a thousand
/// segments: what its socket cannot hold waits here, with all that comes after it, and a thread delivers that when the
/// worker reads. Any thread.
class send_queue {
 public:
  /// `to` lives as long as this.
  explicit send_queue(control_socket& to) noexcept : to_(to) {}
  send_queue(const send_queue&) = delete;
  ~send_queue() { end(); }

  /// Where the worker reads and its socket is full: waits until the deadline, then `retry_later`.
  result<void> post(std::vector<std::byte> packet, std::shared_ptr<const memory_file> enclosed = {},
                    std::int64_t deadline_ns = 0);
  /// Ahead of what waits here, at once or never. False: never; somebody else may just be sending.
  bool post_at_once(std::span<const std::byte> packet);
  /// From now on the worker reads.
  result<void> deliver();
  /// Closes the socket to both sides; nothing is delivered any more.
  void end() noexcept;

 private:
  struct message {
    std::vector<std::byte> packet;
    std::shared_ptr<const memory_file> enclosed;
  };
  result<void> send(const message& l, std::int64_t deadline_ns);
  void deliver_all() noexcept;

  control_socket& to_;
  std::mutex sending_;
  bool reads_ = false, ended_ = false;
  std::deque<message> messages_;
  std::thread sender_;
};

}  // namespace troupe
