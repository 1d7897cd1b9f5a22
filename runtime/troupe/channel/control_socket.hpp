// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/base/result.hpp>
#include <vector>

namespace troupe {

struct control_pair;

/// One end of a connection between two processes, for rare messages that may carry file descriptors. Messages arrive
/// whole and in order. One thread may send and another receive at the same time. Never raises SIGPIPE; every descriptor
/// is close-on-exec.
class control_socket {
 public:
  enum class outcome : std::uint8_t { message, timed_out, closed };
  struct received {
    control_socket::outcome outcome = outcome::closed;
    std::size_t bytes = 0;
    std::vector<file_descriptor> fds;
  };
  static constexpr std::size_t most_fds = 253;  ///< in one message: the kernel's limit

  control_socket() noexcept = default;
  static result<control_pair> make_pair();
  /// Takes over an end that another process made, such as descriptor 3 in a child. Fails if the descriptor is no such
  /// socket.
  static result<control_socket> adopt(file_descriptor fd);

  /// Sends one message of at least one byte. The caller keeps the descriptors. Waits until the deadline for space in
  /// the socket. Fails with `context_lost` if the other end is closed, and with `retry_later` if the deadline has
  /// passed, or if this user has as many descriptors in flight in sockets as it may have open.
  result<void> send(std::span<const std::byte> data, std::span<const int> fds = {},
                    std::int64_t deadline_ns = no_deadline);
  /// Waits until the socket may have space for a message, or the other end is closed. Returns false if the deadline has
  /// passed. Does not wait for descriptors in flight to be received, because Linux does not report that.
  result<bool> wait_for_room(std::int64_t deadline_ns) const;
  /// Receives one message. Fails if it is larger than `into` or carries more than `max_fds` descriptors, and closes
  /// these. Fails with `retry_later` if this process has too few free descriptors: that message is lost, later ones are
  /// not. If `max_fds` is 0, a message that carries descriptors stays unread, and each call fails: closing a received
  /// descriptor may take as long as its sender wants.
  result<received> receive(std::span<std::byte> into, std::size_t max_fds = 0, std::int64_t deadline_ns = no_deadline);

  /// Closes the connection and wakes the threads that wait at either end. May be called on any thread.
  void shut_down() noexcept;

  /// Closes this end on a thread of its own, because descriptors in messages that were not received are closed with it,
  /// which may take as long as their sender wants. If no thread can be started, the socket is shut down and stays open.
  void close_elsewhere() noexcept;

  int fd() const noexcept { return fd_.get(); }
  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }

 private:
  explicit control_socket(file_descriptor fd) noexcept : fd_(std::move(fd)) {}

  file_descriptor fd_;
};

struct control_pair {
  control_socket ours;
  control_socket theirs;
};

}  // namespace troupe
