// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Lanes that are streams: how far the device is, who waits for it, and what has gone wrong there.
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <system_error>
#include <troupe/base/clock.hpp>
#include <troupe/base/futex.hpp>
#include <troupe/base/try.hpp>
#include <troupe/worker/schedule/lanes.hpp>

namespace troupe {
namespace {

// A mark costs about 2 µs of the device, and answers come with the next: so there is one after so long, if not sooner.
constexpr std::int64_t longest_unmarked_ns = 2'500'000;
constexpr std::uint64_t plenty = 256;
// While the device is busy: how long the watcher naps, and after how long without progress it asks whether all is well.
constexpr long nap_ns = 10'000;
constexpr std::int64_t silence_ns = 1'000'000;

}  // namespace

result<void> lane_set::make_streams(const lane_chooser& chooser) {
  for (std::uint32_t i = 0; i < chooser.streams(); ++i) {
    std::int32_t counts = 0;
    const priority urgency = i == chooser.high()  ? priority::high
                             : i == chooser.low() ? priority::low
                                                  : priority::normal;
    auto stream = TROUPE_TRY(gpu_->make_stream(urgency, counts));
    lanes_[i].stream = stream;
    channel_.page().lanes[i].priority.store(counts);
  }
  try {
    watcher_ = std::thread([this] { watch(); });
  } catch (const std::system_error& e) {
    return error::from_errno(reaction::retry_later, "worker", "starting the thread that watches the device",
                             e.code().value());
  }
  return {};
}

void lane_set::will_wait_for(const wait_list& waits) noexcept {
  waits.for_each([&](position p) { mark_when_run(p); });
}

void lane_set::mark(std::uint32_t number) noexcept {
  lane& l = lanes_[number];
  if (l.marked.load(std::memory_order_acquire) >= l.ran.load(std::memory_order_acquire)) return;
  const std::scoped_lock guard(l.marking);
  const std::uint64_t up_to = l.ran.load(std::memory_order_acquire);
  const std::uint64_t before = l.marked.load(std::memory_order_relaxed);
  if (before >= up_to) return;
  if (done(number) >= before) l.busy_since_ns.store(now_ns(), std::memory_order_relaxed);
  if (auto ok = gpu_->write(l.stream, channel_.page().lanes[number].done, up_to); !ok) return fault(ok.error());
  l.marked.store(up_to, std::memory_order_seq_cst);
  if (watch_asleep_.load(std::memory_order_seq_cst) != 0) {
    watch_.fetch_add(1);
    futex_wake(watch_, futex_scope::process);
  }
}

void lane_set::mark(position at_least) noexcept {
  if (lanes_[at_least.lane].marked.load(std::memory_order_acquire) < at_least.sequence) mark(at_least.lane);
}

// The lane's thread may be running it at this moment. It stores how far it is first and looks whether anybody waits
// second; here it is the other way round, so one of the two sees the other.
void lane_set::mark_when_run(position p) noexcept {
  lane& l = lanes_[p.lane];
  if (l.stream == nullptr || l.marked.load(std::memory_order_acquire) >= p.sequence) return;
  at(p).awaited.store(true, std::memory_order_seq_cst);
  if (l.ran.load(std::memory_order_seq_cst) >= p.sequence) mark(p);
}

void lane_set::mark_all() noexcept {
  if (gpu_ == nullptr) return;
  for (std::uint32_t i = 0; i < max_lanes; ++i) {
    const lane& l = lanes_[i];
    // Where more is queued, the lane's thread does so when it has run it.
    if (l.stream != nullptr && l.ran.load(std::memory_order_acquire) >= l.queued.load(std::memory_order_relaxed))
      mark(i);
  }
}

bool lane_set::have_plenty() const noexcept {
  return gpu_ != nullptr && std::any_of(lanes_.begin(), lanes_.end(), [](const lane& l) {
           return l.queued.load(std::memory_order_relaxed) > l.ran.load(std::memory_order_relaxed) + plenty;
         });
}

// The watcher wakes who sleeps here when the device is so far, and not with each of its many steps.
void lane_set::wait_for_device(position p) noexcept {
  std::atomic<std::uint64_t>& wanted = lanes_[p.lane].wanted;
  const auto reached = [&] {
    return channel_.page().lanes[p.lane].done.load(std::memory_order_seq_cst) >= p.sequence ||
           lost_.load(std::memory_order_seq_cst);
  };
  mark_when_run(p);
  adaptive_wait wait(device_steps_);
  if (wait.spin(reached)) return;
  while (true) {
    const std::uint32_t before = far_enough_.load(std::memory_order_seq_cst);
    for (std::uint64_t least = wanted.load(); p.sequence < least;)
      if (wanted.compare_exchange_weak(least, p.sequence)) break;
    if (reached()) return;
    wait.sleep_after_spin([&] { futex_wait(far_enough_, before, futex_scope::process); });
  }
}

// A thread that registers between the two reads below sees that the word it sleeps on has changed, and registers again.
void lane_set::wake_who_wanted_that() noexcept {
  bool any = false;
  for (std::uint32_t i = 0; i < max_lanes; ++i) {
    std::atomic<std::uint64_t>& wanted = lanes_[i].wanted;
    const std::uint64_t least = wanted.load(std::memory_order_seq_cst);
    if (least == never || done(i) < least) continue;
    wanted.store(never, std::memory_order_seq_cst);
    any = true;
  }
  if (!any) return;
  far_enough_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(far_enough_, futex_scope::process);
}

// How long its operations take, by those that the device has said to be done since it was looked at last.
void lane_set::learn_pace(std::uint32_t number, pace& p, std::int64_t now) noexcept {
  lane& l = lanes_[number];
  const std::uint64_t known = done(number), moved = known - p.done;
  if (moved == 0) return;
  const std::int64_t since = std::max(p.seen_ns, l.busy_since_ns.load(std::memory_order_relaxed));
  const auto each_ns = std::max<std::int64_t>((now - since) / static_cast<std::int64_t>(moved), 1);
  const auto unmarked = std::clamp<std::int64_t>(longest_unmarked_ns / each_ns, 1, most_unmarked);
  if (l.unmarked.load(std::memory_order_relaxed) != unmarked)
    l.unmarked.store(static_cast<std::uint32_t>(unmarked), std::memory_order_relaxed);
  p.done = known;
  p.seen_ns = now;
}

// The pump does so when it has nothing else to do, which may be late, and the lane's thread when it has run something.
void lane_set::mark_what_waits(std::uint32_t number, pace& p, std::int64_t now) noexcept {
  const lane& l = lanes_[number];
  if (l.ran.load(std::memory_order_acquire) <= l.marked.load(std::memory_order_acquire)) {
    p.unmarked_since_ns = 0;
  } else if (p.unmarked_since_ns == 0) {
    p.unmarked_since_ns = now;
  } else if (now - p.unmarked_since_ns >= longest_unmarked_ns) {
    mark(number);
  }
}

bool lane_set::under_way() const noexcept {
  return std::any_of(lanes_.begin(), lanes_.end(), [this](const lane& l) {
    return done(static_cast<std::uint32_t>(&l - lanes_.data())) < l.marked.load(std::memory_order_seq_cst);
  });
}

// The device writes how far it is, but wakes nobody; and of what has gone wrong it says nothing until it is asked.
void lane_set::watch() noexcept {
  ::pthread_setname_np(::pthread_self(), "troupe-watch");
  (void)::prctl(PR_SET_TIMERSLACK, 1000UL);
  if (auto ok = gpu_->enter(); !ok) return fault(ok.error());
  std::uint64_t seen = 0;
  std::int64_t asked_ns = now_ns();
  std::array<pace, max_lanes> paces{};
  spin_experience known(policy_);
  adaptive_wait wait(known);
  const auto progress = [this] {
    std::uint64_t all = 0;
    for (std::uint32_t i = 0; i < max_lanes; ++i)
      if (lanes_[i].stream != nullptr) all += done(i);
    return all;
  };
  while (!ending_.load()) {
    if (wait.spin([&] { return progress() != seen; })) {
      seen = progress();
      asked_ns = now_ns();
      reports_.announce();
      wake_who_wanted_that();
      for (std::uint32_t i = 0; i < max_lanes; ++i) {
        if (lanes_[i].stream == nullptr) continue;
        learn_pace(i, paces[i], asked_ns);
        mark_what_waits(i, paces[i], asked_ns);
      }
      continue;
    }
    if (!under_way()) {
      reports_.announce_idle();
      watch_asleep_.store(1, std::memory_order_seq_cst);
      const std::uint32_t before = watch_.load(std::memory_order_seq_cst);
      if (!under_way() && progress() == seen && !ending_.load()) futex_wait(watch_, before, futex_scope::process);
      watch_asleep_.store(0, std::memory_order_relaxed);
      asked_ns = now_ns();
      continue;
    }
    if (now_ns() - asked_ns >= silence_ns) {
      asked_ns = now_ns();
      for (std::uint32_t i = 0; i < max_lanes; ++i) {
        if (lanes_[i].stream == nullptr) continue;
        mark_what_waits(i, paces[i], asked_ns);
        if (done(i) < lanes_[i].marked.load(std::memory_order_relaxed))
          if (auto ok = gpu_->check(lanes_[i].stream); !ok) return fault(ok.error());
      }
    }
    if (policy_ == wait_policy::latency) continue;
    const timespec nap{.tv_sec = 0, .tv_nsec = nap_ns};
    ::nanosleep(&nap, nullptr);
  }
}

// The only operation that is not known to be done is the one to blame; where there is none, it is the one whose own
// call was answered so.
void lane_set::fault(const error& why, const operation* asking) noexcept {
  if (lost_.exchange(true)) return;
  failure f{.reaction = reaction::context_lost, .code = why.code(), .domain = why.domain(), .text = why.text()};
  std::uint64_t open = 0;
  position only;
  for (std::uint32_t i = 0; i < max_lanes; ++i) {
    if (lanes_[i].stream == nullptr) continue;
    const std::uint64_t known = done(i), ran = lanes_[i].ran.load();
    if (known >= ran) continue;
    open += ran - known;
    only = {i, ran};
  }
  if (open == 1) f.first = at(only).id();
  if (open == 0 && asking != nullptr) f.first = asking->id();
  for (std::atomic<std::uint32_t>* const word : {&step_, &far_enough_}) {
    word->fetch_add(1, std::memory_order_seq_cst);
    futex_wake(*word, futex_scope::process);
  }
  if (context_lost_) context_lost_(f);
}

}  // namespace troupe
