// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/channel/ring.hpp>
#include <troupe/worker/internal/engines.hpp>
#include <troupe/worker/internal/lane_chooser.hpp>
#include <troupe/worker/internal/lanes.hpp>

namespace troupe {

/// The heart of a worker: takes requests from the command ring in mailbox order, asks the hazard tracker what each must
/// wait for, and gives it to a lane. One thread.
class pump {
 public:
  struct parts {
    protocol::view channel;
    ring_reader& commands;
    reporter& reports;
    engine_set& engines;
    wait_policy wait;
    lane_chooser lanes;
    std::uint64_t inline_bytes;
    const std::atomic<std::uint32_t>& segments_mapped;  ///< memory messages carried out so far; woken through it
  };
  explicit pump(const parts& p);

  /// Serves until `stop` was called and the ring is empty, then waits for the lanes.
  result<void> run();
  /// Thread safe.
  void stop() noexcept;

 private:
  bool accept(std::uint64_t ticket, std::span<const std::byte> record);  // false: it cannot be a command
  void take_failures(lane_progress done);
  failure_ptr known_failure(const poison_mark& mark) const;
  bool cheap(const operation& op) const noexcept;
  void await_segments(std::uint32_t count) noexcept;

  parts parts_;
  std::unique_ptr<operation[]> operations_;
  failure_log failures_;
  lane_set lanes_;
  hazard_tracker hazards_;
  std::vector<std::pair<std::uint64_t, failure_ptr>> known_;  // by number; the most recent ones
  std::atomic<bool> stopping_{false};
};

}  // namespace troupe
