// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <troupe/base/linux/futex.hpp>
#include <troupe/device/core/device_loop.hpp>

namespace troupe {

/// A timer for the earliest of all requested times. Any thread may request a time.
class earliest_timer {
 public:
  earliest_timer(const device_loop& loop, control_loop::handler& target, std::uint64_t tag = 0) noexcept
      : loop_(loop), target_(target), tag_(tag) {}

  /// Requests a call of the handler at `when_ns`. Publish the data for the handler before. The handler reads the data
  /// only after `fired`, so either it finds the new data, or this function finds that no earlier call is pending.
  void set(std::int64_t when_ns) {
    std::int64_t before = next_.load(std::memory_order_seq_cst);
    while (when_ns < before)
      if (next_.compare_exchange_weak(before, when_ns, std::memory_order_seq_cst))
        return loop_.at(when_ns, target_, tag_);
  }
  void set_now() { set(loop_.now()); }
  /// Must be called by the handler before it reads the published data. Returns the time for which the call was
  /// requested.
  std::int64_t fired() noexcept { return next_.exchange(no_deadline, std::memory_order_seq_cst); }

 private:
  const device_loop& loop_;
  control_loop::handler& target_;
  const std::uint64_t tag_;
  std::atomic<std::int64_t> next_{no_deadline};
};

}  // namespace troupe
