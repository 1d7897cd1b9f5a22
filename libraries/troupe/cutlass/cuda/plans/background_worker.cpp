// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cutlass/cuda/plans/background_worker.hpp>

namespace troupe::cutlass {

background_worker::~background_worker() {
  {
    const std::scoped_lock guard(lock_);
    stops_ = true;
    jobs_.clear();
  }
  changed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void background_worker::add(std::function<void()> job) {
  const std::scoped_lock guard(lock_);
  if (stops_ || jobs_.size() == most) return;
  jobs_.push_back(std::move(job));
  if (!thread_.joinable()) thread_ = std::thread([this] { run_jobs(); });
  changed_.notify_all();
}

void background_worker::finish() {
  std::unique_lock guard(lock_);
  changed_.wait(guard, [&] { return stops_ || (jobs_.empty() && !is_running_); });
}

void background_worker::run_jobs() {
  if (context_ != nullptr) (void)::cuCtxSetCurrent(context_);
  std::unique_lock guard(lock_);
  while (true) {
    changed_.wait(guard, [&] { return stops_ || !jobs_.empty(); });
    if (stops_) return;
    const std::function<void()> job = std::move(jobs_.front());
    jobs_.pop_front();
    is_running_ = true;
    guard.unlock();
    job();
    guard.lock();
    is_running_ = false;
    changed_.notify_all();
  }
}

}  // namespace troupe::cutlass
