// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <troupe/base/futex.hpp>
#include <troupe/device/device_loop.hpp>

namespace troupe {

/// One timer for the earliest of all times that were asked for. Any thread may ask.
class earliest_timer {
 public:
  earliest_timer(const device_loop& loop, control_loop::handler& target, std::uint64_t tag = 0) noexcept
      : loop_(loop), target_(target), tag_(tag) {}

  /// Called after what is to be looked at was published: the handler looks only after `fired`, so either it sees the
  /// news, or this sees that no look will come in time.
  void set(std::int64_t when_ns) {
    std::int64_t before = next_.load(std::memory_order_seq_cst);
    while (when_ns < before)
      if (next_.compare_exchange_weak(before, when_ns, std::memory_order_seq_cst))
        return loop_.at(when_ns, target_, tag_);
  }
  /// The handler, before it looks.
  void fired() noexcept { next_.store(no_deadline, std::memory_order_seq_cst); }

 private:
  const device_loop& loop_;
  control_loop::handler& target_;
  const std::uint64_t tag_;
  std::atomic<std::int64_t> next_{no_deadline};
};

}  // namespace troupe
