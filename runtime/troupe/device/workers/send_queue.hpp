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

/// Sends messages to a worker, in order, and never waits for it. A starting worker reads nothing, and there may be a
/// message for each of a thousand segments. So messages that do not fit the socket, and all later ones, wait here; a
/// thread delivers them once the worker reads. Thread-safe.
class send_queue {
 public:
  /// `to` must outlive this object.
  explicit send_queue(control_socket& to) noexcept : to_(to) {}
  send_queue(const send_queue&) = delete;
  ~send_queue() { end(); }

  /// Sends or queues a message. Fails with `retry_later` if the worker, once it reads, has received no message for a
  /// second. Does not fail because too many descriptors of this user are in flight, which another process may cause.
  result<void> post(std::vector<std::byte> packet, std::shared_ptr<const memory_file> enclosed = {});
  /// Sends a message ahead of the queued ones, without waiting. Returns false if it was not sent, because there is no
  /// room or another thread is sending.
  bool post_at_once(std::span<const std::byte> packet);
  /// Starts to deliver the queued messages. Called when the worker begins to read.
  result<void> deliver();
  /// Shuts the socket down in both directions. Queued messages are dropped.
  void end() noexcept;

 private:
  struct message {
    std::vector<std::byte> packet;
    std::shared_ptr<const memory_file> enclosed;
  };
  result<void> send(const message& l, std::int64_t deadline_ns);
  result<void> start_delivery();
  void deliver_all() noexcept;

  control_socket& to_;
  std::mutex sending_;
  bool reads_ = false, ended_ = false, delivers_ = false;
  bool lacks_ = false;               // true if too many descriptors are in flight
  std::int64_t waits_since_ns_ = 0;  // since when the first queued message waits
  std::deque<message> messages_;
  std::thread sender_;
};

}  // namespace troupe
