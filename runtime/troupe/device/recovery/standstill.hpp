// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <troupe/protocol/shared_memory.hpp>

namespace troupe {

/// Decides whether an overdue request runs too long, or its GPU stands still for all programs, as it does after another
/// program's fault: for 5.3 s beside ten programs, once in four faults. Ending the worker would not help then. A
/// standby that has nothing to do is asked: it says that it was asked, and a write of its own shows when the GPU works.
/// For one thread.
class standstill {
 public:
  enum class verdict {
    wait,     ///< look again after `poll_interval_ns`
    overran,  ///< the GPU works, or nobody can tell: the request runs too long
    resumed,  ///< the GPU has stood still, and works again: the request's time starts anew
  };
  /// A standby that was asked says so within this time, unless there is none.
  static constexpr std::int64_t answer_ns = 50'000'000;
  /// A GPU that works serves a standby within this time, also beside dozens of programs that compute without a pause.
  static constexpr std::int64_t prompt_ns = 100'000'000;
  /// After so long the request counts as overdue, whatever the GPU does.
  static constexpr std::int64_t longest_ns = 10'000'000'000;
  /// More often than this within `window_ns`, it is not the GPU that stands still, but slow: requests are overdue.
  static constexpr std::uint32_t most_resumed = 3;
  static constexpr std::int64_t window_ns = 60'000'000'000;
  static constexpr std::int64_t poll_interval_ns = 1'000'000;

  /// Returns true if the standbys must be asked: no request was overdue before.
  bool begin(const protocol::workers_page& workers, std::int64_t now_ns) noexcept {
    if (asked_ns_ != 0) return false;
    asked_ns_ = now_ns;
    asked_before_ = workers.asked.load();
    signs_before_ = workers.signs.load();
    return true;
  }
  /// Must be called after `begin`, as long as a request is overdue.
  verdict look(const protocol::workers_page& workers, std::int64_t now_ns) noexcept {
    const std::int64_t since = now_ns - asked_ns_;
    if (workers.signs.load() != signs_before_) {
      asked_ns_ = 0;
      return since > prompt_ns && may_resume(now_ns) ? verdict::resumed : verdict::overran;
    }
    const bool somebody_tells = workers.asked.load() != asked_before_;
    if (since < (somebody_tells ? longest_ns : answer_ns)) return verdict::wait;
    asked_ns_ = 0;
    return verdict::overran;
  }
  /// Must be called when no request is overdue any more.
  void end() noexcept { asked_ns_ = 0; }

 private:
  bool may_resume(std::int64_t now_ns) noexcept {
    if (now_ns - window_began_ns_ > window_ns) {
      window_began_ns_ = now_ns;
      resumed_ = 0;
    }
    return ++resumed_ <= most_resumed;
  }

  std::int64_t asked_ns_ = 0;  // 0: no request is overdue
  std::int64_t window_began_ns_ = -window_ns;
  std::uint32_t resumed_ = 0;
  std::uint64_t asked_before_ = 0, signs_before_ = 0;
};

}  // namespace troupe
