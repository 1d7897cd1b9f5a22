// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <condition_variable>
#include <mutex>
#include <system_error>
#include <thread>
#include <troupe/async/thread_pool.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/process_home.hpp>
#include <troupe/base/threads/start_thread.hpp>
#include <vector>

namespace troupe {

struct thread_pool::state {
  const process_home home;
  std::mutex mutex;  // guards all members but `threads`, which only the constructor and the first `close` change
  std::condition_variable work_or_close;
  job* first = nullptr;
  job** last = &first;
  int working = 0;  // threads that will look at the queue again before they sleep
  bool closing = false;
  std::vector<std::thread> threads;
  std::mutex joining;

  void run() noexcept {
    std::unique_lock lock(mutex);
    for (;;) {
      work_or_close.wait(lock, [&] { return first || closing; });
      if (!first) break;
      job* const work = first;
      first = work->next;
      if (!first) last = &first;
      lock.unlock();
      work->run(work);
      lock.lock();
    }
    --working;
  }
};

thread_pool::thread_pool(int threads) : state_(std::make_unique<state>()) {
  const int wanted = threads > 0 ? threads : usable_cores();
  state_->threads.reserve(static_cast<std::size_t>(wanted));
  try {
    for (int i = 0; i < wanted; ++i) {
      const std::lock_guard lock(state_->mutex);
      state_->threads.push_back(start_thread([s = state_.get()] { s->run(); }));
      ++state_->working;
    }
  } catch (const std::system_error&) {
    if (state_->threads.empty()) throw;  // fewer threads are only slower; without any, jobs would be lost
  }
}

thread_pool::~thread_pool() {
  if (state_->home.left())
    process_home::keep(state_.release());  // a child of fork() has none of its threads, so it cannot join them
  else
    close();
}

void thread_pool::post(job& work) noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->working > 0) {
      work.next = nullptr;
      *state_->last = &work;
      state_->last = &work.next;
      state_->work_or_close.notify_one();
      return;
    }
  }
  work.run(&work);
}

void thread_pool::close() noexcept {
  {
    const std::lock_guard lock(state_->mutex);
    state_->closing = true;
    state_->work_or_close.notify_all();
  }
  const std::lock_guard lock(state_->joining);
  for (std::thread& t : state_->threads) {
    if (t.joinable()) t.join();
  }
}

int thread_pool::size() const noexcept { return static_cast<int>(state_->threads.size()); }

}  // namespace troupe
