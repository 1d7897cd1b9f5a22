// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <mutex>
#include <troupe/async/executor.hpp>

namespace troupe {

/// Continuations that the reactor must post. Closed while the reactor is not running.
class continuation_queue {
 public:
  /// Appends a list of jobs. Returns false if the reactor is not running: then the caller keeps the jobs.
  [[nodiscard]] bool hand_over(job* first) noexcept {
    const std::scoped_lock guard(lock_);
    if (!open_) return false;
    *end_ = first;
    while (*end_ != nullptr) end_ = &(*end_)->next;
    nonempty_.store(true, std::memory_order_seq_cst);
    return true;
  }
  bool empty(std::memory_order order = std::memory_order_seq_cst) const noexcept { return !nonempty_.load(order); }
  /// Takes all jobs as a linked list; returns null if there are none.
  job* take() noexcept {
    const std::scoped_lock guard(lock_);
    job* const all = std::exchange(first_, nullptr);
    end_ = &first_;
    nonempty_.store(false, std::memory_order_relaxed);
    return all;
  }

  void open() noexcept { set_open(true); }
  void close() noexcept { set_open(false); }
  /// Closes the queue if it holds no job and `may` returns true. Returns true if it is closed.
  template <class Condition>
  [[nodiscard]] bool close_if_empty(Condition&& may) noexcept {
    const std::scoped_lock guard(lock_);
    if (first_ == nullptr && may()) open_ = false;
    return !open_;
  }
  /// If the queue is open, calls `then`, during which nobody can close it. Returns true if it is open.
  template <class Action>
  [[nodiscard]] bool if_open(Action&& then) noexcept {
    const std::scoped_lock guard(lock_);
    if (open_) then();
    return open_;
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
  std::atomic<bool> nonempty_{false};
};

}  // namespace troupe
