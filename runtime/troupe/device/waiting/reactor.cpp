// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The waits for answers, on callers' threads and on the reactor's thread.
#include <pthread.h>
#include <system_error>
#include <troupe/base/clock.hpp>
#include <troupe/base/threads/start_thread.hpp>
#include <troupe/device/completion/completion.hpp>
#include <troupe/device/core/device_board.hpp>
#include <troupe/device/waiting/reactor.hpp>
#include <troupe/device/waiting/sleep_for_news.hpp>

namespace troupe {
namespace {

// Limits each sleep, because a worker may have damaged the words that threads sleep on.
constexpr std::int64_t longest_idle_ns = 10'000'000'000;

}  // namespace

reactor::reactor(device_board& board, completion& completion, bool own_thread) noexcept
    : channel_(board.channel),
      link_(board.to_reactor),
      continuations_(board.to_reactor.continuations()),
      completion_(completion),
      downloads_(board.downloads),
      own_thread_(own_thread),
      spin_for_answers_(board.options.wait, usable_cores(), board.gpu ? work_by::gpu : work_by::processors),
      spin_by_itself_(board.options.wait, usable_cores()) {}

result<void> reactor::start(std::shared_ptr<const void> device) {
  if (!own_thread_) return {};
  // The thread from before a reset may still run a continuation that waits for the reset: then that thread continues.
  if (continuations_.if_open([this] { ends_.store(false, std::memory_order_seq_cst); })) return {};
  if (thread_.joinable()) thread_.join();  // it has nothing left to do
  ends_.store(false);
  continuations_.open();
  // The thread holds a reference to the device, because its answers may release all other handles.
  try {
    thread_ = start_thread([this, device = std::move(device)] { run(); });
  } catch (const std::system_error& e) {
    continuations_.close();
    return error::from_errno(reaction::retry_later, "device", "starting a thread", e.code().value());
  }
  return {};
}

void reactor::end() noexcept {
  ends_.store(true, std::memory_order_seq_cst);
  if (!channel_.exists()) return;
  link_.wake_all();
}

void reactor::join(bool gives_up) noexcept {
  if (!thread_.joinable()) return;
  if (thread_.get_id() != std::this_thread::get_id())
    thread_.join();
  else if (gives_up)
    thread_.detach();  // this thread is the reactor's and about to end
}

void reactor::post_continuations() noexcept {
  while (!continuations_.empty(std::memory_order_relaxed)) post_all(continuations_.take());
}

void reactor::wait(pending_core& core, std::int64_t deadline_ns) noexcept {
  if (!channel_.exists()) return void(core.sleep(deadline_ns));
  const bool on_reactor = link_.is_this_thread();  // a continuation blocks here, so post the others meanwhile
  const auto ready = [&] { return core.done() || (on_reactor && !continuations_.empty()); };
  // The reactor waits for all answers, and so does every thread if there is no reactor.
  const answer_source only = on_reactor || !own_thread_ ? answer_source() : core.source();
  adaptive_wait waiting(spin_for_answers_);
  vain_wakes vain;
  while (!core.done()) {
    const bool collected = completion_.drive();
    if (on_reactor) post_continuations();
    if (core.done() || (deadline_ns != no_deadline && now_ns() >= deadline_ns)) return;
    // Spins for news only if this thread collected it before: a thread that holds the drive lock may need this core.
    if (!vain.are_many() && waiting.spin([&] { return ready() || (collected && completion_.has_news()); },
                                         [this] { return channel_.shares_core(); }))
      continue;
    waiting.sleep_after_spin(
        [&] { sleep_for_news(channel_, completion_, ready, deadline_ns, vain, longest_wait_ns, only); });
  }
}

void reactor::answered(pending_core&) noexcept { channel_.wake_waiters(); }

void reactor::interest_added(pending_core&) noexcept {
  interest_.fetch_add(1, std::memory_order_seq_cst);
  link_.wake();
}

void reactor::interest_met(pending_core&) noexcept { interest_.fetch_sub(1, std::memory_order_seq_cst); }

bool reactor::is_needed() const noexcept {
  return interest_.load(std::memory_order_seq_cst) > 0 || downloads_.has_transfers() || !continuations_.empty() ||
         completion_.closing();
}

void reactor::run() noexcept {
  ::pthread_setname_np(::pthread_self(), "troupe-reactor");
  link_.use_this_thread();
  // When the queue is closed, threads that complete answers post the continuations themselves.
  do {
    attend();
    completion_.drive();
    post_continuations();
  } while (!continuations_.close_if_empty([this] { return ends(); }));
}

// Posts all continuations until the end. While an answer is wanted for which no thread blocks, the reactor waits like
// any other thread ("attached"); otherwise it sleeps until the worker becomes idle with work that is not retired. It
// stays attached for a few wakes after the last interest, so that a chain of awaits does not switch it back and forth.
void reactor::attend() noexcept {
  adaptive_wait waiting(spin_by_itself_);
  vain_wakes vain;
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
      return (collected && completion_.has_news()) || !continuations_.empty(std::memory_order_relaxed);
    };
    if (is_needed() && !vain.are_many() && waiting.spin(more, [this] { return channel_.shares_core(); })) continue;
    waiting.sleep_after_spin([&] {
      sleep_for_news(
          channel_, completion_, [&] { return ends() || !continuations_.empty(); }, no_deadline, vain,
          is_needed() ? longest_wait_ns : longest_idle_ns);
    });
  }
}

void reactor::sleep_until_idle() noexcept {
  protocol::progress_page& page = channel_->page();
  std::atomic<std::uint32_t>& idle_sleepers = channel_->application().idle_sleepers;
  const auto stays_asleep = [this] { return !is_needed() && !ends(); };
  idle_sleepers.fetch_add(1, std::memory_order_seq_cst);
  link_.begin_sleep();
  const std::uint32_t before = page.idle_epoch.load(std::memory_order_seq_cst);
  completion_.drive();
  if (stays_asleep()) futex_wait(page.idle_epoch, before, futex_scope::shared, now_ns() + longest_idle_ns);
  idle_wakes_.count(stays_asleep() && !completion_.has_news());
  idle_sleepers.fetch_sub(1, std::memory_order_seq_cst);
  // Accepts no wake by the worker for a millisecond. If both share a core, the worker becomes idle before the caller
  // that it answered can announce that it waits, and would wake the reactor each time in vain. Threads of this process
  // can still wake it.
  const std::uint32_t pause = page.idle_epoch.load(std::memory_order_seq_cst);
  if (stays_asleep()) futex_wait(page.idle_epoch, pause, futex_scope::shared, now_ns() + 1'000'000);
  link_.end_sleep();
}

}  // namespace troupe
