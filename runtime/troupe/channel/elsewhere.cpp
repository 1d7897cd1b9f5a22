// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/process_home.hpp>
#include <troupe/base/threads/start_thread.hpp>
#include <troupe/channel/elsewhere.hpp>
#include <utility>
#include <vector>

namespace troupe {
namespace {

class threads_with_work {
 public:
  void start(std::function<void()> work) {
    const std::scoped_lock guard(lock_);
    join_those_that_are_done();
    all_.reserve(all_.size() + 1);  // first, because a thread that has started must be stored
    auto done = std::make_shared<std::atomic<bool>>(false);
    all_.push_back({start_thread([work = std::move(work), done] {
                      work();
                      done->store(true);
                    }),
                    done});
  }
  void await(std::int64_t deadline_ns) {
    while (!all_are_done() && now_ns() < deadline_ns) std::this_thread::sleep_for(std::chrono::microseconds(100));
    const std::scoped_lock guard(lock_);
    for (one& o : all_) o.thread.detach();
    all_.clear();
  }

 private:
  struct one {
    std::thread thread;
    std::shared_ptr<const std::atomic<bool>> done;
  };
  bool all_are_done() {
    const std::scoped_lock guard(lock_);
    join_those_that_are_done();
    return all_.empty();
  }
  void join_those_that_are_done() {
    std::erase_if(all_, [](one& o) {
      const bool done = o.done->load();
      if (done) o.thread.join();
      return done;
    });
  }

  std::mutex lock_;
  std::vector<one> all_;
};
// Made at the first use, which may be before main.
threads_with_work& threads() {
  static per_process<threads_with_work> all;
  // Joins the threads that have ended before the program does.
  [[maybe_unused]] static const int at_exit = std::atexit([] { await_elsewhere(0); });
  return *all;
}

}  // namespace

bool run_elsewhere(std::function<void()> work) noexcept {
  try {
    threads().start(std::move(work));
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

void await_elsewhere(std::int64_t deadline_ns) { threads().await(deadline_ns); }

}  // namespace troupe
