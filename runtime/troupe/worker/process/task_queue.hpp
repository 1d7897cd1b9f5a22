// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe {

/// A thread that does what it is given, one after the other, for those who must not wait.
class task_queue {
 public:
  /// `first`: before all others, on that thread. Throws std::system_error when there is no thread to be had.
  explicit task_queue(std::function<void()> first = {});
  task_queue(const task_queue&) = delete;
  /// When all is done.
  ~task_queue();

  /// Waits while very many are left: each may hold descriptors.
  void add(std::function<void()> what);
  /// Since when it has been at what it does now; 0 while there is nothing to do.
  std::int64_t busy_since_ns() const noexcept { return busy_since_ns_.load(std::memory_order_relaxed); }

 private:
  void work();

  std::mutex lock_;
  std::condition_variable news_, room_;
  std::deque<std::function<void()>> left_;
  bool ending_ = false;
  std::atomic<std::int64_t> busy_since_ns_{0};
  std::function<void()> first_;
  std::thread thread_;
};

}  // namespace troupe
