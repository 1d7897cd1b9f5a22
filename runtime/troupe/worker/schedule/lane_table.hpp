// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <thread>
#include <troupe/protocol/shared_memory.hpp>
#include <troupe/worker/schedule/operation.hpp>

namespace troupe {

/// A lane of a worker. Its members are grouped into cache lines by the thread that writes them.
struct lane_state {
  alignas(64) std::uint64_t issued = 0;  ///< number of operations that the pump has assigned to the lane
  std::atomic<std::uint64_t> queued{0};  ///< the lane's thread may run operations up to this one

  alignas(64) std::atomic<std::uint64_t> ran{0};  ///< number of operations that have run or, on a stream, are enqueued
  std::atomic<bool> running{false};               ///< true while an operation runs whose waits are over

  alignas(64) lane_purpose purpose = lane_purpose::none;
  std::atomic<std::uint32_t> wake{0};  ///< the lane's thread sleeps on this word
  std::atomic<bool> parked{false};     ///< true while the lane's thread sleeps or is about to
  std::thread thread;
};

/// The lanes of a worker, and the operations assigned to them.
struct lane_table {
  protocol::view channel;
  operation* operations;  ///< by slot of the mailbox
  std::array<lane_state, max_lanes> lanes{};

  lane_state& operator[](std::uint32_t lane) noexcept { return lanes[lane]; }
  const lane_state& operator[](std::uint32_t lane) const noexcept { return lanes[lane]; }
  /// Return the number of complete operations of the lane; `done` returns 0 if the count is damaged, so that nothing
  /// runs too early.
  checked_count& counter(std::uint32_t lane) const noexcept { return channel.page().lanes[lane].done; }
  std::uint64_t done(std::uint32_t lane) const noexcept {
    const std::uint64_t found = counter(lane).load(std::memory_order_acquire);
    return found != checked_count::damaged ? found : 0;
  }
  /// Returns the operation at this position, which the lane's log names.
  operation& at(position p) const noexcept {
    return operations[protocol::slot_of(channel.log(p.lane, p.sequence).load(std::memory_order_relaxed))];
  }
};

}  // namespace troupe
