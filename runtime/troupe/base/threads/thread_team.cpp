// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <algorithm>
#include <troupe/base/threads/start_thread.hpp>
#include <troupe/base/threads/thread_team.hpp>

namespace troupe {

thread_team::~thread_team() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  changed_.notify_all();
  for (std::thread& t : helpers_) t.join();
}

void thread_team::share(work& w) {
  {
    const std::lock_guard lock(mutex_);
    start_helpers();
    place_helpers();
    shared_.push_back(&w);
  }
  changed_.notify_all();
  w.take_part(0);
  std::unique_lock lock(mutex_);
  std::erase(shared_, &w);
  w.left_.wait(lock, [&w] { return w.helpers_ == 0; });
}

// Starts as many helpers as wanted, or as the system allows. Without helpers the caller does all the work.
void thread_team::start_helpers() noexcept {
  try {
    while (helpers_.size() + 1 < threads_)
      helpers_.push_back(start_thread([this, member = helpers_.size() + 1] { help(member); }));
  } catch (const std::exception&) {
  }
}

// Helpers that themselves share work are not moved.
void thread_team::place_helpers() noexcept {
  if (ids_.size() + 1 != threads_ || std::find(ids_.begin(), ids_.end(), ::gettid()) != ids_.end()) return;
  try {
    places_.place(ids_);
  } catch (const std::exception&) {
  }
}

// Returns work with parts that no thread has taken. Each call begins its search at another work, so that all are served
// in turn.
thread_team::work* thread_team::open_work() noexcept {
  for (std::size_t i = 0; i < shared_.size(); ++i) {
    work* const w = shared_[(turn_ + i) % shared_.size()];
    if (!w->is_open()) continue;
    turn_ += i + 1;
    return w;
  }
  return nullptr;
}

void thread_team::help(std::size_t member) {
  std::unique_lock lock(mutex_);
  ids_.push_back(::gettid());
  while (true) {
    work* w = nullptr;
    changed_.wait(lock, [&] { return closing_ || (w = open_work()) != nullptr; });
    if (w == nullptr) return;
    ++w->helpers_;
    lock.unlock();
    w->take_part(member);
    lock.lock();
    if (--w->helpers_ == 0) w->left_.notify_one();
  }
}

}  // namespace troupe
