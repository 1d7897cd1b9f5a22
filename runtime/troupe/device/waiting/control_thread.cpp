// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include <troupe/base/linux/errno_reaction.hpp>
#include <troupe/base/linux/own_descriptors.hpp>
#include <troupe/base/threads/start_thread.hpp>
#include <troupe/base/try.hpp>
#include <troupe/device/waiting/control_thread.hpp>

#include <algorithm>
#include <cerrno>
#include <system_error>

namespace troupe {
namespace {

error failed(const char* call, int code = errno) { return error_of_errno("device", call, code); }

result<void> add(int epoll, int fd) {
  epoll_event e{.events = EPOLLIN, .data = {.fd = fd}};
  if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) != 0) return failed("epoll_ctl");
  return {};
}

// A limit, because nothing wakes the thread if the program closes the descriptors while it sleeps.
constexpr int longest_sleep_ms = 2000;

void clear(int fd) {
  std::uint64_t count;
  [[maybe_unused]] const auto n = ::read(fd, &count, sizeof count);
}

}  // namespace

result<std::shared_ptr<control_thread>> control_thread::make() {
  std::shared_ptr<control_thread> loop(new control_thread);
  loop->epoll_ = above_standard(file_descriptor(::epoll_create1(EPOLL_CLOEXEC)));
  if (!loop->epoll_) return failed("epoll_create1");
  loop->event_ = above_standard(file_descriptor(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  if (!loop->event_) return failed("eventfd");
  loop->clock_ = above_standard(file_descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)));
  if (!loop->clock_) return failed("timerfd_create");
  for (const int fd : {loop->event_.get(), loop->clock_.get()}) TROUPE_TRY(add(loop->epoll_.get(), fd));
  try {
    loop->thread_ = start_thread([l = loop.get()] { l->run(); });
  } catch (const std::system_error& e) {
    return failed("starting a thread", e.code().value());
  }
  return loop;
}

control_thread::~control_thread() {
  end();
  if (!thread_.joinable()) return;
  // A job or handler destroys the loop that called it. The thread then ends by itself without touching the loop again.
  *gone_ = true;
  thread_.detach();
}

void control_thread::end() noexcept {
  {
    const std::scoped_lock guard(lock_);
    ending_ = true;
  }
  wake();
  if (thread_.joinable() && !on_loop_thread()) thread_.join();
}

void control_thread::wake() noexcept {
  const std::uint64_t one = 1;
  while (::write(event_.get(), &one, sizeof one) < 0 && errno == EINTR) {
  }
}

void control_thread::post(job& work) noexcept {
  if (home_.left()) return;  // no thread runs it here, and it may use what belongs to the parent process
  work.next = nullptr;
  std::unique_lock guard(lock_);
  if (ended_) {
    guard.unlock();
    return work.run(&work);
  }
  if (last_ != nullptr)
    last_->next = &work;
  else
    first_ = &work;
  last_ = &work;
  guard.unlock();
  wake();
}

result<void> control_thread::watch(int fd, handler& h) {
  auto ok = add(epoll_.get(), fd);
  if (ok) watched_.emplace_back(fd, &h);
  return ok;
}

void control_thread::unwatch(int fd) {
  std::erase_if(watched_, [fd](const auto& w) { return w.first == fd; });
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void control_thread::arm(std::int64_t deadline_ns) noexcept {
  if (std::exchange(armed_ns_, deadline_ns) == deadline_ns) return;
  const std::int64_t t = std::max<std::int64_t>(deadline_ns, 1);
  const itimerspec spec{.it_interval = {}, .it_value = {.tv_sec = t / 1'000'000'000, .tv_nsec = t % 1'000'000'000}};
  ::timerfd_settime(clock_.get(), TFD_TIMER_ABSTIME, &spec, nullptr);
}

void control_thread::at(std::int64_t deadline_ns, std::weak_ptr<handler> h, std::uint64_t tag) {
  const std::scoped_lock guard(lock_);
  timers_.push_back({deadline_ns, std::move(h), tag});
  std::push_heap(timers_.begin(), timers_.end());
  if (timers_.front().deadline_ns == deadline_ns) arm(deadline_ns);
}

// A program that closes all descriptors from 3 on, as some daemons do, closes these as well. Their numbers may belong
// to other files of the program by now, so they are not closed again.
void control_thread::lose_descriptors() {
  const error why(reaction::stopped, "device",
                  "the program has closed file descriptors that it did not open, the device's among them (closefrom, "
                  "close_range); do that before a device is opened, or close only the program's own");
  for (file_descriptor* fd : {&epoll_, &event_, &clock_}) (void)fd->release();
  lost_.store(true);
  std::vector<std::shared_ptr<handler>> waiting;
  {
    const std::scoped_lock guard(lock_);
    for (const timer& t : timers_) waiting.push_back(t.target.lock());
    timers_.clear();
  }
  const auto watched = std::exchange(watched_, {});
  for (const auto& [fd, h] : watched) h->on_descriptors_lost(why);
  for (const auto& h : waiting)
    if (h) h->on_descriptors_lost(why);
}

void control_thread::run() {
  ::pthread_setname_np(::pthread_self(), "troupe-control");
  bool gone = false;
  gone_ = &gone;
  while (true) {
    epoll_event events[16];
    const int n = ::epoll_wait(epoll_.get(), events, 16, longest_sleep_ms);
    if (n < 0 && errno != EINTR) lose_descriptors();
    for (int i = 0; i < n; ++i) {
      const int fd = events[i].data.fd;
      if (fd == event_.get() || fd == clock_.get()) {
        clear(fd);
        continue;
      }
      // A handler may have stopped watching another file of this batch.
      const auto w = std::find_if(watched_.begin(), watched_.end(), [fd](const auto& e) { return e.first == fd; });
      if (w != watched_.end()) w->second->on_readable(fd);
      if (gone) return;
    }
    std::unique_lock guard(lock_);
    while (first_ != nullptr) {
      job* work = first_;
      first_ = work->next;
      if (first_ == nullptr) last_ = nullptr;
      guard.unlock();
      work->run(work);
      if (gone) return;
      guard.lock();
    }
    while (!timers_.empty() && timers_.front().deadline_ns <= now_ns()) {
      std::pop_heap(timers_.begin(), timers_.end());
      timer t = std::move(timers_.back());
      timers_.pop_back();
      guard.unlock();
      if (auto target = t.target.lock()) target->on_time(t.tag);
      if (gone) return;
      guard.lock();
    }
    if (armed_ns_ <= now_ns()) armed_ns_ = 0;
    if (!timers_.empty()) arm(timers_.front().deadline_ns);
    if ((ending_ || lost_) && first_ == nullptr) {
      ended_ = true;
      return;
    }
  }
}

}  // namespace troupe
