// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/internal/block_runner.hpp>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace troupe::cuda_on_host {

namespace {

constexpr std::size_t first_scratch_bytes = std::size_t{64} * 1024;

char* allocate(std::size_t alignment, std::size_t bytes) noexcept {
  return static_cast<char*>(std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment));
}

// Sets whether subnormal numbers are flushed to zero, and restores the previous setting.
class subnormal_mode {
 public:
#if defined(__x86_64__)
  [[nodiscard]] explicit subnormal_mode(bool flush) noexcept : before_(_mm_getcsr()) {
    constexpr unsigned flush_to_zero = 0x8000, denormals_are_zero = 0x0040;
    mode_ = flush ? before_ | flush_to_zero | denormals_are_zero : before_ & ~(flush_to_zero | denormals_are_zero);
    if (mode_ != before_) _mm_setcsr(mode_);
  }
  ~subnormal_mode() {
    if (mode_ != before_) _mm_setcsr(before_);
  }

 private:
  unsigned before_, mode_;
#elif defined(__aarch64__)
  [[nodiscard]] explicit subnormal_mode(bool flush) noexcept {
    constexpr std::uint64_t flush_to_zero = 1u << 24;
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    set(flush ? before_ | flush_to_zero : before_ & ~flush_to_zero);
  }
  ~subnormal_mode() { set(before_); }

 private:
  static void set(std::uint64_t value) noexcept { asm volatile("msr fpcr, %0" ::"r"(value)); }
  std::uint64_t before_;
#else
#error "subnormal_mode does not support this processor: add how it flushes subnormal numbers to zero"
#endif
};

}  // namespace

const troupe_host_services block_runner::services = {
    .more_scratch = more_scratch,
    .run_threads = [](troupe_host_block* b, void (*thread)(void*, std::uint32_t),
                      void* context) { return of(b).fibers_.run(*b, thread, context); },
    .barrier = [](troupe_host_block* b, std::uint32_t predicate, const char* file,
                  std::uint32_t line) { return fibers_of(b, file, line).barrier(predicate, file, line); },
    .meet = [](troupe_host_block* b, std::uint32_t mask, void (*complete)(troupe_host_warp*, std::uint32_t),
               const char* file, std::uint32_t line) { fibers_of(b, file, line).meet(mask, complete, file, line); },
    .converged = [](troupe_host_block* b, const char* file,
                    std::uint32_t line) { return fibers_of(b, file, line).converged(file, line); },
    .reached_end =
        [](troupe_host_block* b, std::uint32_t line) {
          (void)line;
          of(b).fibers_.reached_end();
        },
    .leave = leave,
    .shuffle = [](troupe_host_block* b, std::uint32_t mask, const char* file,
                  std::uint32_t line) { fibers_of(b, file, line).shuffle(mask, file, line); },
    .in_step =
        [](troupe_host_block* b, std::uint32_t place) {
          if (b->fibers) of(b).fibers_.in_step(place);
        },
};

block_runner::block_runner() noexcept {
  block_.launcher = this;
  block_.services = &services;
}

bool block_runner::prepare(const grid_run& run) noexcept {
  if (run.shared_bytes > 0 && !shared_) {
    shared_.reset(allocate(128, launch_limits::shared_bytes));
    if (!shared_) return false;
  }
  run_ = run.run;
  flush_to_zero_ = run.flush_to_zero;
  status_ = TROUPE_HOST_OK;
  block_.grid = {run.grid.x, run.grid.y, run.grid.z};
  block_.block = {run.block.x, run.block.y, run.block.z};
  block_.threads = run.block.x * run.block.y * run.block.z;
  block_.shared_bytes = run.shared_bytes;
  block_.shared = shared_.get();
  block_.arguments = run.arguments;
  return true;
}

void block_runner::place(std::uint64_t block) noexcept {
  block_.index.x = static_cast<std::uint32_t>(block % block_.grid.x);
  block /= block_.grid.x;
  block_.index.y = static_cast<std::uint32_t>(block % block_.grid.y);
  block_.index.z = static_cast<std::uint32_t>(block / block_.grid.y);
}

// Prepares the next block. If the last block needed several pieces of scratch memory, replaces them by one piece of
// their total size.
void block_runner::begin_block() noexcept {
  if (scratch_.size() > 1) scratch_.erase(scratch_.begin(), scratch_.end() - 1);
  block_.scratch = scratch_.empty() ? nullptr : scratch_.back().get();
  block_.scratch_end = block_.scratch + (scratch_.empty() ? 0 : scratch_bytes_);
}

bool block_runner::run(std::uint64_t first, std::uint64_t count, const std::atomic<bool>* stop) noexcept {
  const subnormal_mode mode(flush_to_zero_);
  block_.fault = {};
  block_.fibers = 0;
  if (first == 0)
    block_.index = {};
  else
    place(first);
  return _setjmp(leave_) == 0 && run_blocks(count, stop);  // leave() has set the status before it jumps here
}

bool block_runner::run_blocks(std::uint64_t count, const std::atomic<bool>* stop) {
  for (; count != 0; --count) {
    begin_block();
    status_ = run_(&block_);
    if (status_ != TROUPE_HOST_OK) return false;
    if (stop && stop->load(std::memory_order_relaxed)) return false;
    if (++block_.index.x == block_.grid.x) {
      block_.index.x = 0;
      if (++block_.index.y == block_.grid.y) {
        block_.index.y = 0;
        ++block_.index.z;
      }
    }
  }
  return true;
}

fibers& block_runner::fibers_of(troupe_host_block* b, const char* file, std::uint32_t line) {
  if (!b->fibers) {
    b->fault = {file, line, 0, 0, nullptr};
    leave(b, TROUPE_HOST_MISPLACED);
  }
  return of(b).fibers_;
}

// Adds a piece of scratch memory. The old pieces are kept until the block ends, because they contain variables.
void block_runner::more_scratch(troupe_host_block* b, std::uint64_t bytes) {
  block_runner& self = of(b);
  std::size_t size = self.scratch_.empty() ? first_scratch_bytes : 2 * self.scratch_bytes_;
  while (size < bytes) size *= 2;
  char* piece = allocate(64, size);
  if (!piece) leave(b, TROUPE_HOST_NO_MEMORY);
  self.scratch_.emplace_back(piece);
  self.scratch_bytes_ = size;
  b->scratch = piece;
  b->scratch_end = piece + size;
}

void block_runner::leave(troupe_host_block* b, std::uint32_t status) {
  block_runner& self = of(b);
  if (b->fibers) self.fibers_.leave(status);
  self.status_ = status;
  std::longjmp(self.leave_, 1);
}

}  // namespace troupe::cuda_on_host
