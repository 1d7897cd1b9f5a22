// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/worker/process/task_queue.hpp>

#include <troupe/base/clock.hpp>
#include <utility>

namespace troupe {

task_queue::task_queue(std::function<void()> first) : first_(std::move(first)), thread_([this] { work(); }) {}

task_queue::~task_queue() {
  {
    const std::scoped_lock guard(lock_);
    ending_ = true;
  }
  news_.notify_one();
  thread_.join();
}

void task_queue::add(std::function<void()> what) {
  constexpr std::size_t most_left = 256;
  std::unique_lock guard(lock_);
  room_.wait(guard, [this] { return left_.size() < most_left; });
  left_.push_back(std::move(what));
  guard.unlock();
  news_.notify_one();
}

void task_queue::work() {
  busy_since_ns_.store(now_ns(), std::memory_order_relaxed);
  if (first_) first_();
  std::unique_lock guard(lock_);
  while (true) {
    if (left_.empty()) busy_since_ns_.store(0, std::memory_order_relaxed);
    news_.wait(guard, [this] { return ending_ || !left_.empty(); });
    if (left_.empty()) return;
    const std::function<void()> next = std::move(left_.front());
    left_.pop_front();
    busy_since_ns_.store(now_ns(), std::memory_order_relaxed);
    guard.unlock();
    room_.notify_one();
    next();
    guard.lock();
  }
}

}  // namespace troupe
