// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/clock.hpp>
#include <troupe/kernel/host/internal/block_pool.hpp>

namespace troupe::kernel {

namespace {

// Waking helpers costs some microseconds: not worth it for a rest that takes less than this.
constexpr std::int64_t worth_waking_ns = 20'000;
// How long to go on alone before the rest can be judged.
constexpr std::int64_t judge_after_ns = 4'000;
// What a helper fetches at a time: large against the cost of fetching, small against the time a grid takes.
constexpr std::int64_t chunk_ns = 30'000;

}  // namespace

block_pool::borrowed::borrowed(block_pool& pool)
    : pool_(pool), runner_(pool.at_hand_.exchange(nullptr, std::memory_order_acquire)) {
  if (runner_) return;
  {
    const std::lock_guard lock(pool_.mutex_);
    if (!pool_.runners_.empty()) {
      runner_ = std::move(pool_.runners_.back());
      pool_.runners_.pop_back();
    }
  }
  if (!runner_) runner_ = std::make_unique<block_runner>();
}

block_pool::borrowed::~borrowed() {
  block_runner* none = nullptr;
  if (pool_.at_hand_.compare_exchange_strong(none, runner_.get(), std::memory_order_release,
                                             std::memory_order_relaxed)) {
    (void)runner_.release();
    return;
  }
  const std::lock_guard lock(pool_.mutex_);
  pool_.runners_.push_back(std::move(runner_));
}

block_pool::~block_pool() {
  {
    const std::lock_guard lock(mutex_);
    closing_ = true;
  }
  work_.notify_all();
  for (std::thread& t : helpers_) t.join();
  delete at_hand_.load(std::memory_order_acquire);
}

grid_fault block_pool::run(const grid_run& g) {
  borrowed runner(*this);
  if (!runner->prepare(g)) return {.status = TROUPE_HOST_NO_MEMORY};
  const std::uint64_t blocks = g.blocks();
  if (blocks == 1 || threads_ == 1) {
    runner->run(0, blocks, nullptr);
    return runner->fault();
  }
  // Alone at first, to see how long a block takes.
  const std::int64_t begin = now_ns();
  std::uint64_t done = 0;
  for (std::uint64_t next = 1;; next *= 2) {
    next = std::min(next, blocks - done);
    if (!runner->run(done, next, nullptr)) return runner->fault();
    done += next;
    if (done == blocks) return runner->fault();
    const std::int64_t elapsed = now_ns() - begin;
    if (elapsed < judge_after_ns) continue;
    const auto block_ns = static_cast<double>(elapsed) / static_cast<double>(done);
    if (block_ns * static_cast<double>(blocks - done) >= static_cast<double>(worth_waking_ns))
      return run_together(g, *runner, done, static_cast<std::int64_t>(block_ns));
  }
}

grid_fault block_pool::run_together(const grid_run& g, block_runner& runner, std::uint64_t done,
                                    std::int64_t block_ns) {
  const std::uint64_t left = g.blocks() - done;
  const auto in_time = static_cast<std::uint64_t>(chunk_ns / std::max<std::int64_t>(block_ns, 1));
  const auto fair = left / (4 * static_cast<std::uint64_t>(threads_));
  job j{.grid = g, .blocks = g.blocks(), .chunk = std::max<std::uint64_t>(1, std::min(in_time, fair)), .next = done};
  {
    const std::lock_guard lock(mutex_);
    start_helpers();
    jobs_.push_back(&j);
  }
  if (left > 1) work_.notify_all();
  take_part(j, runner);
  std::unique_lock lock(mutex_);
  std::erase(jobs_, &j);
  j.done.wait(lock, [&] { return j.helpers == 0; });
  return j.fault;
}

// As many as there should be, or as the system has to give: without them the caller runs all blocks itself. Before the
// job is known to anybody, because starting a thread may throw.
void block_pool::start_helpers() noexcept {
  try {
    while (helpers_.size() + 1 < static_cast<std::size_t>(threads_)) helpers_.emplace_back([this] { help(); });
  } catch (const std::exception&) {
  }
}

// Runs chunks until there are none left.
void block_pool::take_part(job& j, block_runner& runner) {
  while (!j.stop.load(std::memory_order_relaxed)) {
    const std::uint64_t first = j.next.fetch_add(j.chunk, std::memory_order_relaxed);
    if (first >= j.blocks) return;
    if (runner.run(first, std::min(j.chunk, j.blocks - first), &j.stop)) continue;
    const grid_fault fault = runner.fault();
    if (fault.status == TROUPE_HOST_OK) return;  // somebody else has stopped
    j.stop.store(true, std::memory_order_relaxed);
    const std::lock_guard lock(mutex_);
    if (j.fault.status == TROUPE_HOST_OK) j.fault = fault;
    return;
  }
}

// A job with blocks to hand out; each helper begins its search at another one.
block_pool::job* block_pool::unfinished() noexcept {
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    job* j = jobs_[(turn_ + i) % jobs_.size()];
    if (j->next.load(std::memory_order_relaxed) < j->blocks && !j->stop.load(std::memory_order_relaxed)) {
      turn_ += i + 1;
      return j;
    }
  }
  return nullptr;
}

void block_pool::help() {
  block_runner runner;
  std::unique_lock lock(mutex_);
  for (;;) {
    job* j = nullptr;
    work_.wait(lock, [&] { return closing_ || (j = unfinished()) != nullptr; });
    if (!j) return;
    ++j->helpers;
    lock.unlock();
    if (runner.prepare(j->grid)) take_part(*j, runner);
    lock.lock();
    if (--j->helpers == 0) j->done.notify_one();
  }
}

}  // namespace troupe::kernel
