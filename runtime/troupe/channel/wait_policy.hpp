// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>
#include <troupe/base/clock.hpp>
#include <troupe/base/enumeration.hpp>
#include <utility>

namespace troupe {

/// Decides whether a thread that waits for the other side gets answers early or uses little processor time.
enum class wait_policy : std::uint8_t {
  latency,    ///< spin long (0.5 ms; 20 ms for work of a GPU) before sleeping, unless spinning delays the other side
  balanced,   ///< spin briefly (at most 20 µs), less while spinning does not pay
  efficient,  ///< never spin
};
TROUPE_ENUM(wait_policy, latency, balanced, efficient)

/// The place of the work that a thread waits for: the processors, which spinning takes from the work, or a GPU.
enum class work_by : std::uint8_t { processors, gpu };

/// The experience with spinning so far, shared by threads that wait for the same other side. Thread-safe.
class spin_experience {
 public:
  using clock = std::int64_t (*)() noexcept;
  explicit spin_experience(wait_policy policy, int cores = usable_cores(), work_by who = work_by::processors,
                           clock now = &now_ns) noexcept;

  /// Returns the nanoseconds that the next wait may spin. 0: it checks once.
  std::int64_t budget_ns() const noexcept { return budget_ns_.load(std::memory_order_relaxed); }

 private:
  friend class adaptive_wait;
  static constexpr std::int64_t least_pause = 1, most_pause = 64;  // multiples of the spin that delayed the other side

  void paid() noexcept;
  void wasted() noexcept;
  void delayed_the_other_side(std::int64_t spun_ns, std::int64_t now) noexcept;

  const clock now_;
  std::int64_t most_ns_ = 0, least_ns_ = 0;
  std::atomic<std::int64_t> budget_ns_{0}, next_pause_{least_pause}, pauses_until_{0};
};

/// The spinning part of a wait: a thread calls `spin`, and sleeps if that returns false. Each waiting thread has its
/// own.
///
/// Never spins if the process has one core, because then the other side runs only while this thread sleeps. With more
/// cores, both sides may still share one, and then each spin delays the other side. A caller that knows this passes
/// `in_vain`. Otherwise the class infers it from an event that arrives right after a thread has spun and gone to sleep:
/// then no thread spins for a while, at first for the length of that spin, later for up to 64 times that, until a spin
/// succeeds.
class adaptive_wait {
 public:
  explicit adaptive_wait(spin_experience& of) noexcept : known_(of) {}
  adaptive_wait(const adaptive_wait&) = delete;

  /// Calls `ready` until it returns true, the budget is spent, or `in_vain` returns true. Returns true if `ready` did.
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

  /// Calls `sleep`, which sleeps until `ready` would return true, and learns from its duration.
  template <class Sleep>
  void sleep_after_spin(Sleep&& sleep) {
    if (spun_ns_ == 0) return sleep();
    const std::int64_t asleep = known_.now_();
    sleep();
    slept(known_.now_() - asleep);
  }
  /// Learns from a sleep of this length, which has ended.
  void slept(std::int64_t ns) noexcept;

 private:
  static constexpr int looks_between_clock_reads = 16;

  spin_experience& known_;
  std::int64_t spun_ns_ = 0;  // length of the last spin if it was in vain, otherwise 0
};

}  // namespace troupe
