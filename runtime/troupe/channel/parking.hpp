// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <troupe/base/linux/futex.hpp>

namespace troupe {

/// A word on which one thread sleeps, and through which any thread of this or another process wakes it with at most one
/// system call.
///
///   sleeper: prepare(); look for work once more; if there is none, park(), else cancel()
///   waker:   make work visible with a seq_cst store; wake_if_sleeping()
///
/// No wake is lost, and no system call is made for a sleeper that is awake. Proof: the four operations S1 `word = 1`,
/// S2 "look for work" (seq_cst load), W1 "make work visible" (seq_cst store) and W2 "read word" are all in the single
/// total order of seq_cst operations, S1 before S2 and W1 before W2. Either S1 is before W2: then the waker sees 1 and
/// wakes. Or W2 is before S1, so W1 is before S2: then the sleeper sees the work and does not sleep. A wake between S1
/// and the system call changes the word, and the kernel refuses to sleep on a word that is not 1. If W1 is another
/// store followed by a seq_cst fence, the fence has its place in that order.
class parking_ref {
 public:
  explicit parking_ref(std::atomic<std::uint32_t>& word) noexcept : word_(&word) {}

  /// Announces the sleep. The sleeper's later loads, with which it looks for work, must be seq_cst.
  void prepare() noexcept { word_->store(1, std::memory_order_seq_cst); }
  /// Withdraws the announcement.
  void cancel() noexcept { word_->store(0, std::memory_order_relaxed); }
  /// Sleeps until woken or until the deadline (monotonic clock). May return spuriously. Returns false if the deadline
  /// has passed.
  bool park(std::int64_t deadline_ns = no_deadline) noexcept {
    const bool in_time = futex_wait(*word_, 1, futex_scope::shared, deadline_ns);
    cancel();
    return in_time;
  }
  /// Wakes the sleeper, if there is one. If several threads call this, only one makes the system call. Returns true if
  /// this one did.
  bool wake_if_sleeping() noexcept {
    if (word_->load(std::memory_order_seq_cst) == 0) [[likely]]
      return false;
    if (word_->exchange(0, std::memory_order_seq_cst) == 0) return false;
    wake();
    return true;
  }
  /// Wakes the sleeper whatever the word's value is, because another process may have overwritten it.
  void wake() noexcept { futex_wake(*word_, futex_scope::shared, 1); }

 private:
  std::atomic<std::uint32_t>* word_;
};

}  // namespace troupe
