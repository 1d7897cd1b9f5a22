// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <troupe/protocol/shared_memory.hpp>

namespace troupe {

/// Measures for how long a GPU stands still for all programs, as it does after another program's fault: 5.3 s in one
/// measurement beside ten programs, and repeatedly 0.1 to 0.5 s beside programs with continual faults. An idle standby
/// is asked: it notes that it was asked, and a write by the GPU for it shows when the GPU works. Not thread-safe.
/// thread.
class standstill {
 public:
  enum class answer {
    awaited,      ///< call `look` again after `poll_interval_ns`
    works,        ///< the GPU served the standby promptly
    stood_still,  ///< the GPU stood still for `took_ns()`, and works again
    unknown,      ///< there is no standby, or the GPU stands still for longer than the limit
  };
  /// A standby notes that it was asked within this time. If none has, `ask` asks again, in case one has started since.
  static constexpr std::int64_t answer_ns = 50'000'000;
  /// A GPU that works serves a standby within this time, even beside dozens of programs that compute without a pause.
  static constexpr std::int64_t prompt_ns = 100'000'000;
  static constexpr std::int64_t poll_interval_ns = 1'000'000;

  /// Returns true if the standbys must be asked, or asked again.
  bool ask(const protocol::workers_page& workers, std::int64_t now_ns) noexcept {
    if (asked_ns_ == 0) {
      asked_ns_ = repeated_ns_ = now_ns;
      asked_before_ = workers.asked.load();
      signs_before_ = workers.signs.load();
      return true;
    }
    if (workers.asked.load() != asked_before_ || now_ns - repeated_ns_ < answer_ns) return false;
    repeated_ns_ = now_ns;
    return true;
  }
  /// Returns the answer so far. Waits also for a standby that is starting: a GPU that stands still lets none start, and
  /// without one nobody could replace the worker either. Precondition: `ask` was called since the last answer other
  /// than `awaited`.
  answer look(const protocol::workers_page& workers, std::int64_t now_ns, bool is_standby_starting) noexcept {
    took_ns_ = now_ns - asked_ns_;
    const bool is_served = workers.signs.load() != signs_before_;
    const bool is_heard = workers.asked.load() != asked_before_ || is_standby_starting;
    if (!is_served && took_ns_ < (is_heard ? protocol::workers_page::longest_wait_ns : answer_ns))
      return answer::awaited;
    asked_ns_ = 0;
    return !is_served ? answer::unknown : took_ns_ > prompt_ns ? answer::stood_still : answer::works;
  }
  /// Returns the time that the answer took, or for which it has been awaited.
  std::int64_t took_ns() const noexcept { return took_ns_; }
  /// Must be called when no request runs for a long time any more.
  void forget() noexcept { asked_ns_ = 0; }

 private:
  std::int64_t asked_ns_ = 0;  // 0: no answer is awaited
  std::int64_t repeated_ns_ = 0, took_ns_ = 0;
  std::uint64_t asked_before_ = 0, signs_before_ = 0;
};

}  // namespace troupe
