// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <system_error>
#include <troupe/base/clock.hpp>
#include <troupe/base/futex.hpp>
#include <troupe/memory/copy_threads.hpp>

namespace troupe {
namespace {

// During a long transfer, new work arrives every few microseconds.
constexpr std::int64_t spin_ns = 50'000;
constexpr std::size_t most_count = 0xffff;

constexpr std::uint64_t packed(std::uint32_t job, std::size_t count, std::size_t next) noexcept {
  return std::uint64_t{job} << 32 | std::uint64_t{count} << 16 | next;
}

}  // namespace

copy_threads::~copy_threads() {
  ending_.store(true);
  job_.fetch_add(1);
  futex_wake(job_, futex_scope::process);
  for (std::thread& t : threads_) t.join();
}

bool copy_threads::share(std::size_t count, part_fn part, void* with) noexcept {
  const std::unique_lock mine(busy_, std::try_to_lock);
  if (!mine || count > most_count) return false;
  try {
    while (threads_.size() < helpers_) threads_.emplace_back([this] { help(); });
  } catch (const std::system_error&) {  // go on with the threads that exist
  }
  part_ = part;
  with_ = with;
  left_.store(count, std::memory_order_relaxed);
  const std::uint32_t job = job_.load(std::memory_order_relaxed) + 1;
  next_.store(packed(job, count, 0), std::memory_order_release);
  job_.store(job, std::memory_order_seq_cst);
  if (asleep_.load(std::memory_order_seq_cst) != 0) futex_wake(job_, futex_scope::process);
  while (do_one(job)) {
  }
  while (left_.load(std::memory_order_acquire) != 0) spin_hint();
  return true;
}

// Returns false if no part of this job is left.
bool copy_threads::do_one(std::uint32_t job) noexcept {
  std::uint64_t now = next_.load(std::memory_order_acquire);
  do {
    const std::size_t count = now >> 16 & most_count, next = now & most_count;
    if (now >> 32 != job || next == count) return false;
  } while (!next_.compare_exchange_weak(now, now + 1, std::memory_order_acq_rel, std::memory_order_acquire));
  part_(with_, now & most_count);
  left_.fetch_sub(1, std::memory_order_release);
  return true;
}

void copy_threads::help() noexcept {
  ::pthread_setname_np(::pthread_self(), "troupe-copy");
  std::uint32_t seen = 0;
  while (!ending_.load(std::memory_order_relaxed)) {
    const std::int64_t until = now_ns() + spin_ns;
    while (job_.load(std::memory_order_acquire) == seen && now_ns() < until) spin_hint();
    asleep_.fetch_add(1, std::memory_order_seq_cst);
    while (job_.load(std::memory_order_seq_cst) == seen) futex_wait(job_, seen, futex_scope::process);
    asleep_.fetch_sub(1, std::memory_order_relaxed);
    seen = job_.load(std::memory_order_acquire);
    while (do_one(seen)) {
    }
  }
}

}  // namespace troupe
