// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <new>
#include <troupe/base/clock.hpp>
#include <troupe/cuda_on_host/internal/block_pool.hpp>

namespace troupe::cuda_on_host {

namespace {

// Waking helpers takes some microseconds, so they are not woken if the remaining blocks take less than this.
constexpr std::int64_t worth_waking_ns = 20'000;
// The time for which the caller runs alone before it estimates the remaining time.
constexpr std::int64_t estimate_after_ns = 4'000;
// The time that the blocks take which a helper fetches at once: long compared with the cost of fetching, short compared
// with the whole grid.
constexpr std::int64_t chunk_ns = 30'000;

}  // namespace

block_pool::borrowed::borrowed(block_pool& pool)
    : pool_(pool), runner_(pool.cached_runner_.exchange(nullptr, std::memory_order_acquire)) {
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
  if (pool_.cached_runner_.compare_exchange_strong(none, runner_.get(), std::memory_order_release,
                                                   std::memory_order_relaxed)) {
    (void)runner_.release();
    return;
  }
  const std::lock_guard lock(pool_.mutex_);
  pool_.runners_.push_back(std::move(runner_));
}

block_pool::~block_pool() { delete cached_runner_.load(std::memory_order_acquire); }

grid_fault block_pool::run(const grid_run& g) {
  borrowed runner(*this);
  if (!runner->prepare(g)) return {.status = TROUPE_HOST_NO_MEMORY};
  const std::uint64_t blocks = g.blocks();
  if (blocks == 1 || team_.threads() == 1) {
    runner->run(0, blocks, nullptr);
    return runner->fault();
  }
  // The caller runs alone first, to measure how long a block takes.
  const std::int64_t begin = now_ns();
  std::uint64_t done = 0;
  for (std::uint64_t next = 1;; next *= 2) {
    next = std::min(next, blocks - done);
    if (!runner->run(done, next, nullptr)) return runner->fault();
    done += next;
    if (done == blocks) return runner->fault();
    const std::int64_t elapsed = now_ns() - begin;
    if (elapsed < estimate_after_ns) continue;
    const auto block_ns = static_cast<double>(elapsed) / static_cast<double>(done);
    if (block_ns * static_cast<double>(blocks - done) >= static_cast<double>(worth_waking_ns))
      return run_together(g, *runner, done, static_cast<std::int64_t>(block_ns));
  }
}

// A grid that several threads run together. Each fetches chunks of blocks.
struct block_pool::shared_grid final : thread_team::work {
  bool is_open() const noexcept override {
    return next.load(std::memory_order_relaxed) < blocks && !stop.load(std::memory_order_relaxed);
  }
  void take_part(std::size_t member) noexcept override {
    block_runner* with = &callers;
    if (member > 0) {
      std::unique_ptr<block_runner>& own = pool.helper_runners_[member];
      if (own == nullptr) own.reset(new (std::nothrow) block_runner);
      if (own == nullptr || !own->prepare(grid)) return;
      with = own.get();
    }
    while (!stop.load(std::memory_order_relaxed)) {
      const std::uint64_t first = next.fetch_add(chunk, std::memory_order_relaxed);
      if (first >= blocks) return;
      if (with->run(first, std::min(chunk, blocks - first), &stop)) continue;
      const grid_fault found = with->fault();
      if (found.status == TROUPE_HOST_OK) return;  // another thread has stopped the grid
      if (!stop.exchange(true, std::memory_order_relaxed)) fault = found;
      return;
    }
  }

  shared_grid(block_pool& p, const grid_run& g, block_runner& r, std::uint64_t done, std::uint64_t at_a_time) noexcept
      : pool(p), grid(g), callers(r), blocks(g.blocks()), chunk(at_a_time), next(done) {}
  block_pool& pool;
  const grid_run& grid;
  block_runner& callers;
  const std::uint64_t blocks, chunk;
  std::atomic<std::uint64_t> next;
  std::atomic<bool> stop{false};
  grid_fault fault;  // the first fault; read when all threads have left
};

grid_fault block_pool::run_together(const grid_run& g, block_runner& runner, std::uint64_t done,
                                    std::int64_t block_ns) {
  const auto in_time = static_cast<std::uint64_t>(chunk_ns / std::max<std::int64_t>(block_ns, 1));
  const auto fair = (g.blocks() - done) / (4 * team_.threads());
  shared_grid all(*this, g, runner, done, std::max<std::uint64_t>(1, std::min(in_time, fair)));
  team_.share(all);
  return all.fault;
}

}  // namespace troupe::cuda_on_host
