// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Waiting for answers and for what continues them: the threads of callers, and the reactor.
#include <pthread.h>
#include <troupe/base/clock.hpp>
#include <troupe/device/internal/sleep_for_news.hpp>

namespace troupe {
namespace {

// A worker that has damaged the words others sleep on must not keep them asleep for ever.
constexpr std::int64_t longest_idle_ns = 10'000'000'000;

}  // namespace

thread_local constinit const device_core* device_core::reacting_ = nullptr;

device_core::answering::~answering() {
  job* const continuations = kept_->take();
  kept_.reset();  // first: what runs from here on keeps for itself
  core_.hand_over(continuations);
}

// Continuations are the reactor's: a thread that waits for an answer of its own may hold locks that they need.
void device_core::hand_over(job* first) noexcept {
  if (first == nullptr) return;
  if (!continuations_.hand_over(first)) return post_all(first);
  if (on_reactor()) return;  // which looks before it sleeps
  wake_waiters();
  wake_reactor();
}

void device_core::post_continuations() noexcept {
  while (!continuations_.empty(std::memory_order_relaxed)) post_all(continuations_.take());
}

bool device_core::news() const noexcept {
  std::uint64_t done = 0;
  for (const protocol::lane_counters& lane : channel_.page().lanes) done += lane.done.load(std::memory_order_relaxed);
  return (done != retired_total_.load(std::memory_order_relaxed) && !violated_.load(std::memory_order_relaxed)) ||
         (downloads_.has_transfers(std::memory_order_relaxed) && downloads_.has_data());
}

// Does this thread run where the worker did last? Then it cannot run there while this one spins. What the worker says
// of that is a hint: if it is wrong, this thread spins in vain, or not at all.
bool device_core::shares_core() noexcept {
  const std::uint32_t here = current_core();
  const bool shared = here != 0 && channel_.page().pump_core.load(std::memory_order_relaxed) == here;
  protocol::note_core(channel_.application().shared_core, shared ? here : 0);
  return shared;
}

void device_core::wait(pending_core& core, std::int64_t deadline_ns) noexcept {
  if (channel_.base == nullptr) return void(core.sleep(deadline_ns));
  const bool reacts = on_reactor();  // blocked inside a continuation: the others go on
  const auto ready = [&] { return core.done() || (reacts && !continuations_.empty()); };
  adaptive_wait waiting(spin_for_answers_);
  while (!core.done()) {
    const bool collected = drive();
    if (reacts) post_continuations();
    if (core.done() || (deadline_ns != no_deadline && now_ns() >= deadline_ns)) return;
    // Whoever collects may need this core to go on.
    if (waiting.spin([&] { return ready() || (collected && news()); }, [this] { return shares_core(); })) continue;
    waiting.sleep_after_spin([&] { sleep_for_news(ready, deadline_ns); });
  }
}

void device_core::wake_waiters() noexcept {
  protocol::progress_page& page = channel_.page();
  page.epoch.fetch_add(1, std::memory_order_seq_cst);
  if (channel_.application().sleepers.load(std::memory_order_seq_cst) != 0) futex_wake(page.epoch, futex_scope::shared);
}

void device_core::answered(pending_core&) noexcept { wake_waiters(); }

void device_core::wake_reactor() noexcept {
  protocol::progress_page& page = channel_.page();
  if (reactor_asleep_.load(std::memory_order_seq_cst) == 0) return;
  page.idle_epoch.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(page.idle_epoch, futex_scope::shared);
}

void device_core::interest_added(pending_core&) noexcept {
  interest_.fetch_add(1, std::memory_order_seq_cst);
  wake_reactor();
}

void device_core::interest_met(pending_core&) noexcept { interest_.fetch_sub(1, std::memory_order_seq_cst); }

// The reactor: it posts all continuations. While somebody waits without a thread, it waits like everybody else;
// otherwise it sleeps until the worker goes idle with work that nobody has retired. It stays with the first way for a
// few wakes after the last interest, so that a chain of awaits does not move it to and fro.
void device_core::react() noexcept {
  ::pthread_setname_np(::pthread_self(), "troupe-reactor");
  reacting_ = this;
  protocol::progress_page& page = channel_.page();
  std::atomic<std::uint32_t>& idle_sleepers = channel_.application().idle_sleepers;
  spin_experience known(options_.wait, cores_);
  adaptive_wait waiting(known);
  const auto needed = [this] {
    return interest_.load(std::memory_order_seq_cst) > 0 || downloads_.has_transfers() || !continuations_.empty() ||
           closing_.load(std::memory_order_seq_cst);
  };
  const auto ends = [this] { return reactor_ends_.load(std::memory_order_seq_cst); };
  int attached = 0;
  while (!ends()) {
    if (needed()) attached = 8;
    if (attached > 0) {
      --attached;
      const bool collected = drive();
      post_continuations();
      const auto more = [&] { return (collected && news()) || !continuations_.empty(std::memory_order_relaxed); };
      if (needed() && waiting.spin(more, [this] { return shares_core(); })) continue;
      waiting.sleep_after_spin([&] {
        sleep_for_news([&] { return ends() || !continuations_.empty(); }, no_deadline,
                       needed() ? 1'000'000'000 : longest_idle_ns);
      });
      continue;
    }
    idle_sleepers.fetch_add(1, std::memory_order_seq_cst);
    reactor_asleep_.fetch_add(1, std::memory_order_seq_cst);
    const std::uint32_t before = page.idle_epoch.load(std::memory_order_seq_cst);
    drive();
    if (!needed() && !ends()) futex_wait(page.idle_epoch, before, futex_scope::shared, now_ns() + longest_idle_ns);
    idle_sleepers.fetch_sub(1, std::memory_order_seq_cst);
    // Not again for a millisecond, for the worker's sake: where both share a core it goes idle before the caller it
    // answered could say that it waits, and would wake us each time for nothing. Those in this process who need us
    // still can.
    const std::uint32_t pause = page.idle_epoch.load(std::memory_order_seq_cst);
    if (!needed() && !ends()) futex_wait(page.idle_epoch, pause, futex_scope::shared, now_ns() + 1'000'000);
    reactor_asleep_.fetch_sub(1, std::memory_order_seq_cst);
  }
  // What still comes is posted by whoever brings it.
  do {
    drive();
    post_continuations();
  } while (!continuations_.close_if_empty());
}

}  // namespace troupe
