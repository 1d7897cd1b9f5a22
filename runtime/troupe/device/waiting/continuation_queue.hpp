// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <troupe/async/executor.hpp>

namespace troupe {

/// Continuations on their way to the reactor, which posts them. While it does not run there is nobody to hand them to.
class continuation_queue {
 public:
  /// False: the reactor does not run, and the jobs stay the caller's.
  [[nodiscard]] bool hand_over(job* first) noexcept {
    const std::scoped_lock guard(lock_);
    if (!open_) return false;
    *end_ = first;
    while (*end_ != nullptr) end_ = &(*end_)->next;
    some_.store(true, std::memory_order_seq_cst);
    return true;
  }
  bool empty(std::memory_order order = std::memory_order_seq_cst) const noexcept { return !some_.load(order); }
  /// All of them, linked; null when there are none.
  job* take() noexcept {
    const std::scoped_lock guard(lock_);
    job* const all = std::exchange(first_, nullptr);
    end_ = &first_;
    some_.store(false, std::memory_order_relaxed);
    return all;
  }

  void open() noexcept { set_open(true); }
  void close() noexcept { set_open(false); }
  /// False: there are some, which are to be posted first.
  [[nodiscard]] bool close_if_empty() noexcept {
    const std::scoped_lock guard(lock_);
    if (first_ == nullptr) open_ = false;
    return !open_;
  }

 private:
  void set_open(bool to) noexcept {
    const std::scoped_lock guard(lock_);
    open_ = to;
  }

  std::mutex lock_;
  job* first_ = nullptr;
  job** end_ = &first_;
  bool open_ = false;
  std::atomic<bool> some_{false};
};

}  // namespace troupe
