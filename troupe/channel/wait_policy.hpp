// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>
#include <troupe/base/clock.hpp>

namespace troupe {

/// How to wait for the other side: answers sooner, or less processor time.
enum class wait_policy : std::uint8_t {
  latency,    ///< spin long (0.5 ms; for what a GPU does 20 ms) before sleeping
  balanced,   ///< spin briefly (at most 20 µs), less while spinning does not pay
  efficient,  ///< never spin
};

std::string_view to_string(wait_policy policy) noexcept;

/// Who does what is waited for: others on these processors, which spinning takes away from them, or a GPU.
enum class work_by : std::uint8_t { processors, gpu };

/// The spinning part of a wait: call `spin`, and sleep when it gives up. One per waiting thread.
/// Never spins where the process has one core, because there only the sleep lets the other side run.
class adaptive_wait {
 public:
  explicit adaptive_wait(wait_policy policy, int cores = usable_cores(), work_by who = work_by::processors) noexcept;

  /// Calls `ready` until it is true or the budget is spent. True when `ready` was.
  template <class Ready>
  bool spin(Ready&& ready) {
    if (ready()) return true;
    if (budget_ns_ == 0) return false;
    const std::int64_t until = now_ns() + budget_ns_;
    do {
      for (int i = 0; i < looks_between_clock_reads; ++i) {
        spin_hint();
        if (ready()) return paid(), true;
      }
    } while (now_ns() < until);
    return wasted(), false;
  }

  /// Nanoseconds the next `spin` may take; 0: it looks once.
  std::int64_t budget_ns() const noexcept { return budget_ns_; }

 private:
  static constexpr int looks_between_clock_reads = 16;

  void paid() noexcept { budget_ns_ = 2 * budget_ns_ < most_ns_ ? 2 * budget_ns_ : most_ns_; }
  void wasted() noexcept { budget_ns_ = budget_ns_ / 2 > least_ns_ ? budget_ns_ / 2 : least_ns_; }

  std::int64_t most_ns_ = 0;
  std::int64_t least_ns_ = 0;
  std::int64_t budget_ns_ = 0;
};

}  // namespace troupe
