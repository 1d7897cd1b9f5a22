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

/// A thread that runs tasks one after the other, for threads that must not wait for them.
class task_queue {
 public:
  /// Starts the thread, which first runs `first`. Throws std::system_error if it cannot be started.
  explicit task_queue(std::function<void()> first = {});
  task_queue(const task_queue&) = delete;
  /// Waits until all tasks have run.
  ~task_queue();

  /// Adds a task. Blocks while very many tasks are queued, because each may hold descriptors.
  void add(std::function<void()> what);
  /// Returns the time at which the current task started; 0 while the queue is empty.
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
