// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace troupe::cutlass {

/// Runs jobs one after the other on its own thread; no caller waits for them. The thread begins with the first job.
class background_worker {
 public:
  explicit background_worker(CUcontext context) noexcept : context_(context) {}
  /// Waits for the running job, and discards the queued jobs.
  ~background_worker();
  background_worker(const background_worker&) = delete;

  /// Queues a job; discards it if 64 are waiting.
  void add(std::function<void()> job);
  /// Waits until all jobs are done.
  void finish();

 private:
  void run_jobs();

  static constexpr std::size_t most = 64;
  const CUcontext context_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool is_running_ = false, stops_ = false;
  std::thread thread_;
};

}  // namespace troupe::cutlass
