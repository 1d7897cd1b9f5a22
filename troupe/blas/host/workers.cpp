// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "workers.hpp"

#include <algorithm>

namespace troupe::blas {

workers::~workers() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  news_.notify_all();
  for (std::thread& t : helpers_) t.join();
}

void workers::run(job& j) {
  if (threads_ > 1 && j.count > j.grain) {
    const std::lock_guard lock(mutex_);
    start_helpers();
    jobs_.push_back(&j);
    news_.notify_all();
  }
  take_part(j);
  std::unique_lock lock(mutex_);
  std::erase(jobs_, &j);
  left_.wait(lock, [&j] { return j.helpers == 0; });
  if (j.thrown) std::rethrow_exception(j.thrown);
}

// Where no more threads can be had, those that there are do the work.
void workers::start_helpers() noexcept {
  try {
    while (helpers_.size() + 1 < threads_) helpers_.emplace_back([this] { help(); });
  } catch (const std::exception&) {
  }
}

void workers::take_part(job& j) {
  try {
    for (std::int64_t first; (first = j.next.fetch_add(j.grain)) < j.count;)
      for (std::int64_t i = first; i < std::min(j.count, first + j.grain); ++i) j.call(j.self, i);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    j.thrown = std::current_exception();
    j.next = j.count;
  }
}

workers::job* workers::open_job() const noexcept {
  for (job* j : jobs_)
    if (j->next.load() < j->count) return j;
  return nullptr;
}

void workers::help() {
  std::unique_lock lock(mutex_);
  while (true) {
    job* j = nullptr;
    news_.wait(lock, [&] { return closing_ || (j = open_job()) != nullptr; });
    if (closing_) return;
    ++j->helpers;
    lock.unlock();
    take_part(*j);
    lock.lock();
    if (--j->helpers == 0) left_.notify_all();
  }
}

}  // namespace troupe::blas
