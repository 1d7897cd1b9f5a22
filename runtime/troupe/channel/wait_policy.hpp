// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <troupe/base/clock.hpp>
#include <utility>

namespace troupe {

/// How to wait for the other side: answers sooner, or less processor time.
enum class wait_policy : std::uint8_t {
  latency,    ///< spin long (0.5 ms; for what a GPU does 20 ms) before sleeping, unless spinning delays the other side
  balanced,   ///< spin briefly (at most 20 µs), less while spinning does not pay
  efficient,  ///< never spin
};

std::string_view to_string(wait_policy policy) noexcept;

/// Who does what is waited for: others on these processors, which spinning takes away from them, or a GPU.
enum class work_by : std::uint8_t { processors, gpu };

/// What the threads that wait for the same other side have learned about spinning. Any thread.
class spin_experience {
 public:
  using clock = std::int64_t (*)() noexcept;
  explicit spin_experience(wait_policy policy, int cores = usable_cores(), work_by who = work_by::processors,
                           clock now = &now_ns) noexcept;

  /// Nanoseconds the next wait may spin; 0: it looks once.
  std::int64_t budget_ns() const noexcept { return budget_ns_.load(std::memory_order_relaxed); }

 private:
  friend class adaptive_wait;
  static constexpr std::int64_t least_pause = 1, most_pause = 64;  // of a spin that delayed the other side: its lengths

  void paid() noexcept;
  void wasted() noexcept;
  void delayed_the_other_side(std::int64_t spun_ns, std::int64_t now) noexcept;

  const clock now_;
  std::int64_t most_ns_ = 0, least_ns_ = 0;
  std::atomic<std::int64_t> budget_ns_{0}, next_pause_{least_pause}, pauses_until_{0};
};

/// The spinning part of a wait: call `spin`, and sleep when it gives up. One per waiting thread.
/// Never spins where the process has one core, because there only the sleep lets the other side run. Where there are
/// more, both sides may still share one, and then each spin keeps the other side from what it is waited for. A caller
/// that can tell so says it by `in_vain`. Where nobody can, it is seen by what comes as soon as this thread sleeps
/// after a spin: then nobody spins for a time, which grows from as long as the spin to 64 times that until a spin pays.
class adaptive_wait {
 public:
  explicit adaptive_wait(spin_experience& of) noexcept : known_(of) {}
  adaptive_wait(const adaptive_wait&) = delete;

  /// Calls `ready` until it is true or the budget is spent, or until spinning is in vain. True when `ready` was.
  template <class Ready, class InVain>
  bool spin(Ready&& ready, InVain&& in_vain) {
    spun_ns_ = 0;
    if (ready()) return true;
    const std::int64_t budget = known_.budget_ns();
    if (budget == 0 || in_vain()) return false;
    const std::int64_t start = known_.now_(), until = start + budget;
    if (start < known_.pauses_until_.load(std::memory_order_relaxed)) return false;
    std::int64_t now = start;
    do {
      for (int i = 0; i < looks_between_clock_reads; ++i) {
        spin_hint();
        if (ready()) return known_.paid(), true;
      }
      if (in_vain()) return false;
      now = known_.now_();
    } while (now < until);
    known_.wasted();
    spun_ns_ = now - start;
    return false;
  }
  template <class Ready>
  bool spin(Ready&& ready) {
    return spin(std::forward<Ready>(ready), [] { return false; });
  }

  /// Calls `sleep`, which sleeps until `spin` would be true, and learns from how long that took.
  template <class Sleep>
  void sleep_after_spin(Sleep&& sleep) {
    if (spun_ns_ == 0) return sleep();
    const std::int64_t asleep = known_.now_();
    sleep();
    slept(known_.now_() - asleep);
  }
  /// The same for a sleep that is over.
  void slept(std::int64_t ns) noexcept;

 private:
  static constexpr int looks_between_clock_reads = 16;

  spin_experience& known_;
  std::int64_t spun_ns_ = 0;  // in vain, the last time
};

}  // namespace troupe
