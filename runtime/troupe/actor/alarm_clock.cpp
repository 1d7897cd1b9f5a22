// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <mutex>
#include <thread>
#include <troupe/actor/alarm_clock.hpp>
#include <troupe/actor/internal/alarm_list.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/process_home.hpp>
#include <troupe/base/threads/start_thread.hpp>

namespace troupe {

using detail::alarm;

struct monotonic_clock::state {
  const process_home home;
  detail::alarm_list alarms;
  std::mutex guard;  // guards `thread`; held while an alarm is added
  std::thread thread;
  std::atomic<std::uint32_t> changes{0};
  std::atomic<bool> closing{false};

  void wake_thread() noexcept {
    changes.fetch_add(1);
    futex_wake(changes, futex_scope::process);
  }
  void run() noexcept {
    while (!closing.load()) {
      const std::uint32_t seen = changes.load();  // read before the list, so that a later change ends the sleep
      for (const ref<alarm>& due : alarms.take_due(troupe::now_ns())) due->complete({});
      const std::int64_t next = alarms.earliest();
      if (next > troupe::now_ns()) futex_wait(changes, seen, futex_scope::process, next);
    }
  }
};

monotonic_clock::monotonic_clock() : state_(std::make_unique<state>()) {}

monotonic_clock::~monotonic_clock() {
  if (state_->home.left()) {
    process_home::keep(state_.release());  // a child of fork() has no such thread
    return;
  }
  {
    const std::lock_guard lock(state_->guard);
    state_->closing.store(true);
  }
  state_->wake_thread();
  if (state_->thread.joinable()) state_->thread.join();
  for (const ref<alarm>& left : state_->alarms.take_due(INT64_MAX)) left->cancel();
}

std::int64_t monotonic_clock::now_ns() noexcept { return troupe::now_ns(); }

pending<void> monotonic_clock::wake_at(std::int64_t time_ns) {
  auto a = ref<alarm>::adopt(new alarm(time_ns));
  {
    const std::lock_guard lock(state_->guard);
    if (state_->closing.load()) {  // the continuation of an alarm that the destructor cancelled requests another one
      a->cancel();
    } else {
      if (!state_->thread.joinable()) state_->thread = start_thread([s = state_.get()] { s->run(); });
      if (state_->alarms.add(a)) state_->wake_thread();
    }
  }
  return pending<void>(std::move(a));
}

}  // namespace troupe
