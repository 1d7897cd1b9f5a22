// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/channel/wait_policy.hpp>

namespace troupe {
namespace {

// If an event arrives within this time after a thread spun in vain and went to sleep, the other side was probably
// waiting for the thread's core.
constexpr std::int64_t soon(std::int64_t spun_ns) noexcept {
  return std::clamp<std::int64_t>(spun_ns / 4, 50'000, 200'000);
}
constexpr std::int64_t longest_pause_ns = 250'000'000;

}  // namespace

spin_experience::spin_experience(wait_policy policy, int cores, work_by who, clock now) noexcept : now_(now) {
  if (cores < 2) return;
  switch (policy) {
    case wait_policy::latency:
      most_ns_ = least_ns_ = who == work_by::gpu ? 20'000'000 : 500'000;
      break;
    case wait_policy::balanced:
      most_ns_ = 20'000, least_ns_ = 1'250;
      break;
    case wait_policy::efficient:
      break;
  }
  budget_ns_.store(most_ns_, std::memory_order_relaxed);
}

// Threads that learn at the same time may overwrite each other's result, which costs only time. A value is written only
// if it changes, because other threads read it.
void spin_experience::paid() noexcept {
  const std::int64_t budget = budget_ns();
  if (budget != most_ns_) budget_ns_.store(std::min(2 * budget, most_ns_), std::memory_order_relaxed);
  if (next_pause_.load(std::memory_order_relaxed) != least_pause)
    next_pause_.store(least_pause, std::memory_order_relaxed);
}

void spin_experience::wasted() noexcept {
  const std::int64_t budget = budget_ns();
  if (budget != least_ns_) budget_ns_.store(std::max(budget / 2, least_ns_), std::memory_order_relaxed);
}

void spin_experience::delayed_the_other_side(std::int64_t spun_ns, std::int64_t now) noexcept {
  const std::int64_t pause = next_pause_.load(std::memory_order_relaxed);
  next_pause_.store(std::min(4 * pause, most_pause), std::memory_order_relaxed);
  pauses_until_.store(now + std::min(pause * spun_ns, longest_pause_ns), std::memory_order_relaxed);
}

void adaptive_wait::slept(std::int64_t ns) noexcept {
  const std::int64_t spun = std::exchange(spun_ns_, 0);
  if (spun != 0 && ns < soon(spun)) known_.delayed_the_other_side(spun, known_.now_());
}

}  // namespace troupe
