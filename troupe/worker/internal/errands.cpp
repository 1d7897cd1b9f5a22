// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/worker/internal/errands.hpp>

#include <utility>

namespace troupe {

errands::errands(std::function<void()> first) : first_(std::move(first)) {}

errands::~errands() {
  {
    const std::scoped_lock guard(lock_);
    ending_ = true;
  }
  news_.notify_one();
  if (thread_.joinable()) thread_.join();
}

void errands::add(std::function<void()> what) {
  {
    const std::scoped_lock guard(lock_);
    left_.push_back(std::move(what));
    if (!thread_.joinable()) thread_ = std::thread([this] { work(); });
  }
  news_.notify_one();
}

void errands::work() {
  if (first_) first_();
  std::unique_lock guard(lock_);
  while (true) {
    news_.wait(guard, [this] { return ending_ || !left_.empty(); });
    if (left_.empty()) return;
    const std::function<void()> next = std::move(left_.front());
    left_.pop_front();
    guard.unlock();
    next();
    guard.lock();
  }
}

}  // namespace troupe
