// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <system_error>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/base/try.hpp>
#include <troupe/worker/schedule/device_progress.hpp>

namespace troupe {
namespace {

// The longest time between marks: a mark costs the device about 2 µs, and answers wait for the next mark.
constexpr std::int64_t longest_unmarked_ns = 2'500'000;
constexpr long nap_ns = 10'000;                       // of the watcher, while the device is busy
constexpr std::int64_t longest_blind_ns = 1'000'000;  // interval of its looks for overdue marks without progress
// The interval in which the device is asked for errors while nothing progresses; the second is for when another source
// reports errors.
constexpr std::int64_t silence_ns = 1'000'000, silence_if_told_ns = 100'000'000;

}  // namespace

device_progress::device_progress(lane_table& lanes, platform* gpu, reporter& reports, wait_policy policy,
                                 std::function<void(const failure&)> when_lost)
    : lanes_(lanes),
      gpu_(gpu),
      reports_(reports),
      policy_(policy),
      when_lost_(std::move(when_lost)),
      spins_(policy, usable_cores(), work_by::gpu),
      silence_ns_(silence_ns) {
  for (std::atomic<std::uint32_t>& n : mark_after_) n.store(most_unmarked, std::memory_order_relaxed);
}

device_progress::~device_progress() {
  ending_.store(true);
  for (std::atomic<std::uint32_t>* word : {&watch_, &questions_}) {
    word->fetch_add(1);
    futex_wake(*word, futex_scope::process);
  }
  for (std::thread* t : {&watcher_, &asker_})
    if (t->joinable()) t->join();
}

result<void> device_progress::make_streams(const lane_chooser& chooser) {
  for (std::uint32_t i = 0; i < chooser.streams(); ++i) {
    std::int32_t counts = 0;
    const priority urgency = i == chooser.high()  ? priority::high
                             : i == chooser.low() ? priority::low
                                                  : priority::normal;
    auto stream = TROUPE_TRY(gpu_->make_stream(urgency, counts));
    streams_[i] = stream;
    lanes_.channel.page().lanes[i].priority.store(counts);
  }
  try {
    watcher_ = std::thread([this] { watch(); });
    asker_ = std::thread([this] { ask_for_errors(); });
  } catch (const std::system_error& e) {
    return error::from_errno(reaction::retry_later, "worker", "starting the thread that watches the device",
                             e.code().value());
  }
  return {};
}

void device_progress::mark(std::uint32_t number) noexcept {
  stream_marks& m = marks_[number];
  const std::atomic<std::uint64_t>& ran = lanes_[number].ran;
  if (m.marked.load(std::memory_order_acquire) >= ran.load(std::memory_order_acquire)) return;
  const std::scoped_lock guard(m.marking);
  const std::uint64_t up_to = ran.load(std::memory_order_acquire);
  const std::uint64_t before = m.marked.load(std::memory_order_relaxed);
  if (before >= up_to) return;
  if (lanes_.done(number) >= before) m.busy_since_ns.store(now_ns(), std::memory_order_relaxed);
  if (auto ok = gpu_->write(streams_[number], lanes_.counter(number).word(), checked_count::word_of(up_to)); !ok)
    return lose(ok.error());
  m.marked.store(up_to, std::memory_order_seq_cst);
  if (watcher_sleeps_.load(std::memory_order_seq_cst) != 0) {
    watch_.fetch_add(1);
    futex_wake(watch_, futex_scope::process);
  }
}

void device_progress::mark_up_to(position p) noexcept {
  if (marks_[p.lane].marked.load(std::memory_order_acquire) < p.sequence) mark(p.lane);
}

// The lane's thread may be enqueueing the operation at this moment. That thread stores `ran` and then reads `awaited`;
// this one stores `awaited` and then reads `ran`. So one of the two finds the other's store.
void device_progress::mark_when_enqueued(position p) noexcept {
  if (!is_stream(p.lane) || marks_[p.lane].marked.load(std::memory_order_acquire) >= p.sequence) return;
  lanes_.at(p).awaited.store(true, std::memory_order_seq_cst);
  if (lanes_[p.lane].ran.load(std::memory_order_seq_cst) >= p.sequence) mark_up_to(p);
}

void device_progress::mark_awaited(const wait_list& waits) noexcept {
  waits.for_each([&](position p) { mark_when_enqueued(p); });
}

void device_progress::mark_if_due(std::uint64_t before, position last) noexcept {
  bool due = last.sequence - marks_[last.lane].marked.load(std::memory_order_relaxed) >=
             mark_after_[last.lane].load(std::memory_order_relaxed);
  for (std::uint64_t s = before + 1; s <= last.sequence; ++s)
    if (const operation& op = lanes_.at({last.lane, s}); op.timed || op.awaited.load(std::memory_order_seq_cst))
      due = true;
  if (due) mark(last.lane);
}

void device_progress::mark_all() noexcept {
  if (gpu_ == nullptr) return;
  for (std::uint32_t i = 0; i < max_lanes; ++i) {
    const lane_state& l = lanes_[i];
    // If more is queued, the lane's thread marks after it has enqueued that.
    if (is_stream(i) && l.ran.load(std::memory_order_acquire) >= l.queued.load(std::memory_order_relaxed)) mark(i);
  }
}

void device_progress::make_stream_wait(std::uint32_t lane, position p) noexcept {
  mark_up_to(p);
  if (auto ok = gpu_->wait(streams_[lane], lanes_.counter(p.lane).word(), checked_count::word_of(p.sequence)); !ok)
    lose(ok.error());
}

// The watcher wakes a thread that sleeps here when the device has completed the operation that the thread waits for,
// not at each of the device's many steps.
void device_progress::wait_until_done(position p) noexcept {
  std::atomic<std::uint64_t>& wanted = marks_[p.lane].wanted;
  const auto reached = [&] {
    return lanes_.counter(p.lane).reaches(p.sequence, std::memory_order_seq_cst) ||
           lost_.load(std::memory_order_seq_cst);
  };
  mark_when_enqueued(p);
  adaptive_wait wait(spins_);
  if (wait.spin(reached)) return;
  while (true) {
    const std::uint32_t before = far_enough_.load(std::memory_order_seq_cst);
    for (std::uint64_t least = wanted.load(); p.sequence < least;)
      if (wanted.compare_exchange_weak(least, p.sequence)) break;
    if (reached()) return;
    wait.sleep_after_spin([&] { futex_wait(far_enough_, before, futex_scope::process); });
  }
}

// The registration of a thread that registers between the load and the store below is erased. That thread finds that
// the word it sleeps on has changed, and registers again.
void device_progress::wake_waiters() noexcept {
  bool any = false;
  for (std::uint32_t i = 0; i < max_lanes; ++i) {
    std::atomic<std::uint64_t>& wanted = marks_[i].wanted;
    const std::uint64_t least = wanted.load(std::memory_order_seq_cst);
    if (least == never || lanes_.done(i) < least) continue;
    wanted.store(never, std::memory_order_seq_cst);
    any = true;
  }
  if (!any) return;
  far_enough_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(far_enough_, futex_scope::process);
}

// Estimates the time of an operation from the operations that the device has completed since the last estimate.
void device_progress::learn_pace(std::uint32_t number, pace& p, std::int64_t now) noexcept {
  const std::uint64_t known = lanes_.done(number), moved = known - p.done;
  if (moved == 0) return;
  const std::int64_t since = std::max(p.seen_ns, marks_[number].busy_since_ns.load(std::memory_order_relaxed));
  const auto each_ns = std::max<std::int64_t>((now - since) / static_cast<std::int64_t>(moved), 1);
  const auto unmarked = std::clamp<std::int64_t>(longest_unmarked_ns / each_ns, 1, most_unmarked);
  if (mark_after_[number].load(std::memory_order_relaxed) != unmarked)
    mark_after_[number].store(static_cast<std::uint32_t>(unmarked), std::memory_order_relaxed);
  p.done = known;
  p.seen_ns = now;
}

// Needed because the pump marks only when it has nothing else to do, which may be late, and the lane's thread only
// after it has enqueued something.
void device_progress::mark_overdue(std::uint32_t number, pace& p, std::int64_t now) noexcept {
  if (lanes_[number].ran.load(std::memory_order_acquire) <= marks_[number].marked.load(std::memory_order_acquire)) {
    p.unmarked_since_ns = 0;
  } else if (p.unmarked_since_ns == 0) {
    p.unmarked_since_ns = now;
  } else if (now - p.unmarked_since_ns >= longest_unmarked_ns) {
    mark(number);
  }
}

bool device_progress::is_busy() const noexcept {
  for (std::uint32_t i = 0; i < max_lanes; ++i)
    if (lanes_.done(i) < marks_[i].marked.load(std::memory_order_seq_cst)) return true;
  return false;
}

bool device_progress::has_work() const noexcept {
  for (std::uint32_t i = 0; i < max_lanes; ++i)
    if (is_stream(i) && lanes_.done(i) < lanes_[i].ran.load(std::memory_order_acquire)) return true;
  return false;
}

std::uint64_t device_progress::total_done() const noexcept {
  std::uint64_t all = 0;
  for (std::uint32_t i = 0; i < max_lanes; ++i)
    if (is_stream(i)) all += lanes_.done(i);
  return all;
}

void device_progress::watch() noexcept {
  ::pthread_setname_np(::pthread_self(), "troupe-watch");
  (void)::prctl(PR_SET_TIMERSLACK, 1000UL);
  if (auto ok = gpu_->enter(); !ok) return lose(ok.error());
  std::uint64_t seen = 0;
  std::int64_t looked_ns = now_ns(), asked_ns = looked_ns;
  std::array<pace, max_lanes> paces{};
  spin_experience known(policy_);
  adaptive_wait wait(known);
  while (!ending_.load()) {
    if (wait.spin([&] { return total_done() != seen; })) {
      seen = total_done();
      looked_ns = asked_ns = now_ns();
      reports_.announce();
      wake_waiters();
      for (std::uint32_t i = 0; i < max_lanes; ++i) {
        if (!is_stream(i)) continue;
        learn_pace(i, paces[i], asked_ns);
        mark_overdue(i, paces[i], asked_ns);
      }
      continue;
    }
    if (!is_busy()) {
      reports_.announce_idle();
      watcher_sleeps_.store(1, std::memory_order_seq_cst);
      const std::uint32_t before = watch_.load(std::memory_order_seq_cst);
      if (!is_busy() && total_done() == seen && !ending_.load()) futex_wait(watch_, before, futex_scope::process);
      watcher_sleeps_.store(0, std::memory_order_relaxed);
      asked_ns = now_ns();
      continue;
    }
    const std::int64_t now = now_ns();
    if (now - looked_ns >= longest_blind_ns) {
      looked_ns = now;
      for (std::uint32_t i = 0; i < max_lanes; ++i)
        if (is_stream(i)) mark_overdue(i, paces[i], now);
    }
    if (now - asked_ns >= silence_ns_.load(std::memory_order_relaxed)) {
      asked_ns = now;
      ask();
    }
    if (policy_ == wait_policy::latency) continue;
    const timespec nap{.tv_sec = 0, .tv_nsec = nap_ns};
    ::nanosleep(&nap, nullptr);
  }
}

void device_progress::ask() noexcept {
  questions_.fetch_add(1);
  futex_wake(questions_, futex_scope::process);
}

void device_progress::ask_less_often(bool less) noexcept { silence_ns_.store(less ? silence_if_told_ns : silence_ns); }

void device_progress::ask_for_errors() noexcept {
  ::pthread_setname_np(::pthread_self(), "troupe-errors");
  if (auto ok = gpu_->enter(); !ok) return lose(ok.error());
  for (std::uint32_t answered = 0; !ending_.load();) {
    const std::uint32_t asked = questions_.load();
    if (asked == answered) {
      futex_wait(questions_, asked, futex_scope::process);
      continue;
    }
    answered = asked;
    for (std::uint32_t i = 0; i < max_lanes; ++i)
      if (is_stream(i) && lanes_.done(i) < lanes_[i].ran.load(std::memory_order_acquire))
        if (auto ok = gpu_->check(streams_[i]); !ok) return lose(ok.error());
  }
}

void device_progress::lose(const error& why, const operation* reported_by) noexcept {
  if (lost_.exchange(true)) return;
  ended_kernels_.store(gpu_ != nullptr && gpu_->has_ended_kernels(why));
  failure f{.reaction = reaction::context_lost, .code = why.code(), .domain = why.domain(), .text = why.text()};
  std::uint64_t open = 0;
  position only;
  for (std::uint32_t i = 0; i < max_lanes; ++i) {
    if (!is_stream(i)) continue;
    const std::uint64_t known = lanes_.done(i), ran = lanes_[i].ran.load();
    if (known >= ran) continue;
    open += ran - known;
    only = {i, ran};
  }
  if (open == 1) f.first = lanes_.at(only).id();
  if (open == 0 && reported_by != nullptr) f.first = reported_by->id();
  far_enough_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(far_enough_, futex_scope::process);
  when_lost_(f);
}

}  // namespace troupe
