// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <troupe/base/file_descriptor.hpp>
#include <troupe/base/futex.hpp>
#include <troupe/base/result.hpp>
#include <vector>

namespace troupe {

struct control_pair;

/// One end of a connection for the rare messages that carry file descriptors: whole messages, in order, between two
/// processes. One thread sends and one receives at a time. Never raises SIGPIPE; every descriptor is close-on-exec.
class control_socket {
 public:
  enum class outcome : std::uint8_t { message, timed_out, closed };
  struct received {
    control_socket::outcome outcome = outcome::closed;
    std::size_t bytes = 0;
    std::vector<file_descriptor> fds;
  };
  static constexpr std::size_t most_fds = 253;  ///< in one message; the kernel's limit

  control_socket() noexcept = default;
  static result<control_pair> make_pair();
  /// Takes an end that came from elsewhere, such as descriptor 3 in a child; refused when it is no such socket.
  static result<control_socket> adopt(file_descriptor fd);

  /// Sends one message of at least one byte; the descriptors stay the caller's. Waits for room until the deadline.
  /// `context_lost` when the other end is gone, `retry_later` when the deadline has passed, or when as many descriptors
  /// of this user are on their way in sockets as it may have open.
  result<void> send(std::span<const std::byte> data, std::span<const int> fds = {},
                    std::int64_t deadline_ns = no_deadline);
  /// Waits until `send` may find room, or the other end is gone. False when the deadline has passed. It does not wait
  /// for descriptors on their way to be received: of that the kernel tells nobody.
  result<bool> wait_for_room(std::int64_t deadline_ns) const;
  /// Receives one message. One that is larger than `into` or carries more than `max_fds` descriptors is an error, and
  /// the descriptors that came with it are closed. `retry_later` when this process has too few left for those that
  /// came: the message is gone, later ones come.
  result<received> receive(std::span<std::byte> into, std::size_t max_fds = 0, std::int64_t deadline_ns = no_deadline);

  /// A thread that waits at either end sees it closed. Any thread.
  void shut_down() noexcept;

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
