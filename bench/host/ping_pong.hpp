// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/channel/mapping.hpp>
#include <troupe/channel/process/process.hpp>

namespace troupe::bench {

/// The least that two processes need to pass a word back and forth: one word of shared memory in each direction, with a
/// futex on which the receiver sleeps. The other process is this program, started again with `peer_argument`.
class ping_pong {
 public:
  static constexpr std::string_view peer_argument = "--ping-pong-peer";

  /// Starts the other process. Throws `bad_result` if that fails.
  explicit ping_pong(bool spinning);
  ~ping_pong();
  ping_pong(const ping_pong&) = delete;
  ping_pong& operator=(const ping_pong&) = delete;

  void round_trip() noexcept;
  int peer_pid() const noexcept { return peer_.pid(); }

  /// Runs in the other process.
  static int run_peer();

 private:
  struct page;
  ping_pong(bool spinning, result<memory_file> file);

  mapping memory_;
  page* page_;
  process peer_;
};

}  // namespace troupe::bench
