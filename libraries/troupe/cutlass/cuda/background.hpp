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

/// Runs jobs one after the other on a thread of its own, without any caller waiting. The thread begins with the first
/// job.
class background {
 public:
  explicit background(CUcontext context) noexcept : context_(context) {}
  /// Waits for the running job, and discards the others.
  ~background();
  background(const background&) = delete;

  /// Discards the job if too many are queued.
  void add(std::function<void()> job);
  /// Waits until all jobs are done.
  void finish();

 private:
  void serve();

  static constexpr std::size_t most = 64;
  const CUcontext context_;
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> jobs_;
  bool is_running_ = false, ends_ = false;
  std::thread thread_;
};

}  // namespace troupe::cutlass
