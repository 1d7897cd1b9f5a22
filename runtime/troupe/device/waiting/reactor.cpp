// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Waiting for answers and for what continues them: the threads of callers, and the reactor.
#include <pthread.h>
#include <system_error>
#include <troupe/base/clock.hpp>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/waiting/reactor.hpp>
#include <troupe/device/waiting/sleep_for_news.hpp>

namespace troupe {
namespace {

// A worker that has damaged the words others sleep on must not keep them asleep for ever.
constexpr std::int64_t longest_idle_ns = 10'000'000'000;

}  // namespace

thread_local constinit const reactor* reactor::running_ = nullptr;

reactor::reactor(shared_channel& channel, completion& answers, const download_tracker& downloads, wait_policy how,
                 int cores, bool gpu, bool own_thread) noexcept
    : channel_(channel),
      completion_(answers),
      downloads_(downloads),
      own_thread_(own_thread),
      spin_for_answers_(how, cores, gpu ? work_by::gpu : work_by::processors),
      spin_by_itself_(how, cores) {}

reactor::answering::~answering() {
  job* const continuations = kept_->take();
  kept_.reset();  // first: what runs from here on keeps for itself
  reactor_.hand_over(continuations);
}

result<void> reactor::start(std::shared_ptr<const void> device) {
  if (!own_thread_) return {};
  if (thread_.joinable()) thread_.join();  // that of the time before a reset has nothing left to do
  ends_.store(false);
  continuations_.open();
  // What it answers may let go of every other handle of the device.
  try {
    thread_ = std::thread([this, device = std::move(device)] { run(); });
  } catch (const std::system_error& e) {
    continuations_.close();
    return error::from_errno(reaction::retry_later, "device", "starting a thread", e.code().value());
  }
  return {};
}

void reactor::end() noexcept {
  ends_.store(true, std::memory_order_seq_cst);
  if (!channel_.exists()) return;
  channel_.wake_waiters();
  wake();
}

void reactor::join(bool gives_up) noexcept {
  if (!thread_.joinable()) return;
  if (thread_.get_id() != std::this_thread::get_id())
    thread_.join();
  else if (gives_up)
    thread_.detach();  // it ends by itself
}

// Continuations are the reactor's: a thread that waits for an answer of its own may hold locks that they need.
void reactor::hand_over(job* first) noexcept {
  if (first == nullptr) return;
  if (!continuations_.hand_over(first)) return post_all(first);
  if (is_this_thread()) return;  // which looks before it sleeps
  channel_.wake_waiters();
  wake();
}

void reactor::post_continuations() noexcept {
  while (!continuations_.empty(std::memory_order_relaxed)) post_all(continuations_.take());
}

void reactor::wait(pending_core& core, std::int64_t deadline_ns) noexcept {
  if (!channel_.exists()) return void(core.sleep(deadline_ns));
  const bool reacts = is_this_thread();  // blocked inside a continuation: the others go on
  const auto ready = [&] { return core.done() || (reacts && !continuations_.empty()); };
  adaptive_wait waiting(spin_for_answers_);
  while (!core.done()) {
    const bool collected = completion_.drive();
    if (reacts) post_continuations();
    if (core.done() || (deadline_ns != no_deadline && now_ns() >= deadline_ns)) return;
    // A thread that collects may need this core to go on.
    if (waiting.spin([&] { return ready() || (collected && completion_.news()); },
                     [this] { return channel_.shares_core(); }))
      continue;
    waiting.sleep_after_spin([&] { sleep_for_news(channel_, completion_, ready, deadline_ns); });
  }
}

void reactor::answered(pending_core&) noexcept { channel_.wake_waiters(); }

void reactor::wake() noexcept {
  if (asleep_.load(std::memory_order_seq_cst) != 0) channel_.wake_reactor();
}

void reactor::interest_added(pending_core&) noexcept {
  interest_.fetch_add(1, std::memory_order_seq_cst);
  wake();
}

void reactor::interest_met(pending_core&) noexcept { interest_.fetch_sub(1, std::memory_order_seq_cst); }

bool reactor::is_needed() const noexcept {
  return interest_.load(std::memory_order_seq_cst) > 0 || downloads_.has_transfers() || !continuations_.empty() ||
         completion_.expects_the_end();
}

// It posts all continuations. While an answer is wanted that no thread waits for, it waits like every other thread;
// otherwise it sleeps until the worker goes idle with work that is not retired. It stays with the first way for a few
// wakes after the last interest, so that a chain of awaits does not move it to and fro.
void reactor::run() noexcept {
  ::pthread_setname_np(::pthread_self(), "troupe-reactor");
  running_ = this;
  adaptive_wait waiting(spin_by_itself_);
  const auto ends = [this] { return ends_.load(std::memory_order_seq_cst); };
  int attached = 0;
  while (!ends()) {
    if (is_needed()) attached = 8;
    if (attached == 0) {
      sleep_until_idle();
      continue;
    }
    --attached;
    const bool collected = completion_.drive();
    post_continuations();
    const auto more = [&] {
      return (collected && completion_.news()) || !continuations_.empty(std::memory_order_relaxed);
    };
    if (is_needed() && waiting.spin(more, [this] { return channel_.shares_core(); })) continue;
    waiting.sleep_after_spin([&] {
      sleep_for_news(
          channel_, completion_, [&] { return ends() || !continuations_.empty(); }, no_deadline,
          is_needed() ? longest_wait_ns : longest_idle_ns);
    });
  }
  // What still comes is posted by the thread that brings it.
  do {
    completion_.drive();
    post_continuations();
  } while (!continuations_.close_if_empty());
}

void reactor::sleep_until_idle() noexcept {
  protocol::progress_page& page = channel_->page();
  std::atomic<std::uint32_t>& idle_sleepers = channel_->application().idle_sleepers;
  const auto stays_asleep = [this] { return !is_needed() && !ends_.load(std::memory_order_seq_cst); };
  idle_sleepers.fetch_add(1, std::memory_order_seq_cst);
  asleep_.fetch_add(1, std::memory_order_seq_cst);
  const std::uint32_t before = page.idle_epoch.load(std::memory_order_seq_cst);
  completion_.drive();
  if (stays_asleep()) futex_wait(page.idle_epoch, before, futex_scope::shared, now_ns() + longest_idle_ns);
  idle_sleepers.fetch_sub(1, std::memory_order_seq_cst);
  // Not again for a millisecond, for the worker's sake: where both share a core it goes idle before the caller it
  // answered could say that it waits, and would wake us each time for nothing. Those in this process who need us
  // still can.
  const std::uint32_t pause = page.idle_epoch.load(std::memory_order_seq_cst);
  if (stays_asleep()) futex_wait(page.idle_epoch, pause, futex_scope::shared, now_ns() + 1'000'000);
  asleep_.fetch_sub(1, std::memory_order_seq_cst);
}

}  // namespace troupe
