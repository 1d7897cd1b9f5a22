// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <climits>
#include <system_error>
#include <troupe/base/clock.hpp>
#include <troupe/base/linux/futex.hpp>
#include <troupe/base/threads/start_thread.hpp>
#include <troupe/memory/copying/copy_threads.hpp>

namespace troupe {
namespace {

// How long a helper spins for a piece: during a long transfer, a new piece arrives every few microseconds.
constexpr std::int64_t spin_ns = 50'000;
// The number of pieces of one copy that a helper takes before it looks for another copy that needs help.
constexpr int pieces_in_a_row = 16;

}  // namespace

copy_threads::~copy_threads() {
  ending_.store(true);
  removals_.fetch_add(1);
  calls_.fetch_add(1);
  futex_wake(calls_, futex_scope::process);
  for (std::thread& t : threads_) t.join();
}

void copy_threads::add(shared_copy& copy) {
  if (helpers_ == 0) return;
  const std::scoped_lock guard(lock_);
  copies_.push_back({&copy});
}

void copy_threads::remove(shared_copy& copy) noexcept {
  if (helpers_ == 0) return;
  std::unique_lock guard(lock_);
  const auto place = [&] {
    return std::find_if(copies_.begin(), copies_.end(), [&](const entry& e) { return e.copy == &copy; });
  };
  if (place() == copies_.end()) return;
  place()->ends = true;
  removals_.fetch_add(1, std::memory_order_relaxed);
  left_.wait(guard, [&] { return place()->inside == 0; });
  copies_.erase(place());
}

void copy_threads::wake(std::size_t most) noexcept {
  if (!started_.load(std::memory_order_acquire)) return start_helpers();
  if (asleep_.load(std::memory_order_seq_cst) == 0) return;
  calls_.fetch_add(1, std::memory_order_seq_cst);
  futex_wake(calls_, futex_scope::process, static_cast<int>(std::min<std::size_t>(most, INT_MAX)));
}

void copy_threads::start_helpers() noexcept {
  const std::scoped_lock guard(lock_);
  if (started_.load(std::memory_order_relaxed)) return;
  try {
    while (threads_.size() < helpers_) threads_.push_back(start_thread([this] { help(); }));
  } catch (const std::system_error&) {  // go on with the threads that exist
  }
  started_.store(true, std::memory_order_release);
}

// Returns a copy with pieces that wait. Each helper begins its search at another copy, so that all copies get help.
copy_threads::visit copy_threads::enter() noexcept {
  const std::scoped_lock guard(lock_);
  for (std::size_t i = 0; i < copies_.size(); ++i) {
    entry& e = copies_[(turn_ + i) % copies_.size()];
    if (e.ends || e.copy->waiting_pieces() == 0) continue;
    turn_ += i + 1;
    ++e.inside;
    return {e.copy, removals_.load(std::memory_order_relaxed)};
  }
  return {};
}

void copy_threads::leave(const shared_copy& copy) noexcept {
  const std::scoped_lock guard(lock_);
  for (entry& e : copies_)
    if (e.copy == &copy && --e.inside == 0 && e.ends) left_.notify_all();
}

// Returns false if it could copy nothing: if a worker damages its counter, pieces seem to wait forever.
bool copy_threads::take_part(const visit& v) const noexcept {
  shared_copy& copy = *v.copy;
  const auto stays = [&] { return removals_.load(std::memory_order_relaxed) == v.removals; };
  int done = 0;
  for (std::int64_t until = 0; done < pieces_in_a_row && stays();) {
    if (copy.copy_piece()) {
      ++done;
      until = 0;
      continue;
    }
    if (until == 0) until = now_ns() + spin_ns;
    do {
      if (now_ns() >= until) return done != 0;
      spin_hint();
    } while (copy.waiting_pieces() == 0 && stays());
  }
  return true;
}

void copy_threads::help() noexcept {
  ::pthread_setname_np(::pthread_self(), "troupe-copy");
  while (!ending_.load(std::memory_order_seq_cst)) {
    const std::uint32_t seen = calls_.load(std::memory_order_seq_cst);
    if (const visit v = enter(); v.copy != nullptr) {
      const bool helped = take_part(v);
      leave(*v.copy);
      if (helped) continue;
    }
    // A `call_help` between reading `calls_` and sleeping may miss this thread; the next piece repeats the call.
    asleep_.fetch_add(1, std::memory_order_seq_cst);
    if (!ending_.load(std::memory_order_seq_cst)) futex_wait(calls_, seen, futex_scope::process);
    asleep_.fetch_sub(1, std::memory_order_seq_cst);
  }
}

}  // namespace troupe
