// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <troupe/async/executor.hpp>
#include <troupe/base/futex.hpp>

namespace troupe {

class pending_core;

/// Lets the thread that waits for an answer help to bring it about, instead of sleeping until another thread has.
/// A runtime attaches one to the cores it answers.
struct waiter {
  /// Called by a blocking get of a core that is not done. Returns when `core.done()` or when the deadline has passed;
  /// an early return is harmless. An implementation that sleeps reads the word it will sleep on *before* it looks at
  /// `core.done()`, so that it cannot miss `answered`.
  virtual void wait(pending_core& core, std::int64_t deadline_ns) noexcept = 0;
  /// Called after a continuation was attached to a core that was not done: somebody needs the answer and no thread is
  /// blocked for it. The core may have been answered in the meantime; it is alive during the call.
  virtual void interest_added(pending_core& core) noexcept = 0;
  /// The counterpart: called by the answering thread before the continuation is posted. Exactly one for each
  /// `interest_added`, on whatever thread and possibly before it.
  virtual void interest_met(pending_core& core) noexcept;
  /// Called by the answering thread when a thread is inside `wait` for this core; it may be that very thread.
  virtual void answered(pending_core& core) noexcept;

 protected:
  ~waiter() = default;
};

/// What `pending_core::attach` did.
enum class attach_outcome : std::uint8_t {
  attached,      ///< the job will be posted when the answer is there
  already_done,  ///< the answer is there; the job was not posted and the caller goes on by itself
  refused,       ///< somebody else's continuation is attached already
};

/// The untyped half of a `pending`: who waits for an answer, and has it come. Reference counted; starts with one
/// reference. A thread that answers holds a reference while doing so.
///
/// Everything is decided by the modification order of one word, `phase`: flags that are only ever set, and in the upper
/// bits the number of threads blocked. Let D be the step that sets `done`.
///  - Answered once: a producer must set `claimed` first; only the one who found it clear stores a result and takes
///    step D, which publishes the result (release) to a thread that reads `done` (acquire).
///  - A continuation runs once: its slot belongs to a thread that found `reserved` clear, is written, and is published
///  by
///    setting `continued` in step C. C before D: D sees the flag and posts the job, and C, which saw no `done`, does
///    nothing more. D before C: D saw no flag and posts nothing, and C sees `done` and goes on by itself.
///  - No sleeper is missed: a thread counts itself in step B. B before D: D sees a count and wakes. D before B: B sees
///    `done` and does not sleep. The futex compares the word, so a step D between B and the sleep ends the sleep.
///  - Taken once: the value belongs to a thread that found `taken` clear after `done`.
class pending_core {
 public:
  explicit pending_core(waiter* helper = nullptr) noexcept : waiter_(helper) {}
  pending_core(const pending_core&) = delete;
  pending_core& operator=(const pending_core&) = delete;

  /// The answer is there.
  bool done() const noexcept { return (phase_.load(std::memory_order_acquire) & done_bit) != 0; }
  /// Somebody will be resumed or called when the answer comes.
  bool has_continuation() const noexcept { return (phase_.load() & continued_bit) != 0; }
  /// At least one thread is blocked for the answer.
  bool has_blocked_waiter() const noexcept { return phase_.load() >= one_blocked; }

  /// Blocks until the core is done or the deadline (monotonic clock) has passed; returns `done()`.
  bool wait(std::int64_t deadline_ns = no_deadline) noexcept;

  /// Has the job posted to the executor once, when the answer comes. Job and executor must live until then. After
  /// `attached` the caller must not touch the job: it may have run.
  attach_outcome attach(executor& where, job& continuation) noexcept;

  /// Asks the producer not to bother. A request, not an answer: the producer still answers, as it sees fit.
  virtual void cancel() noexcept {}

  /// For waiters that have no better place to sleep: sleeps until done, a wake without cause, or the deadline. Only
  /// inside `waiter::wait`. False when the deadline has passed.
  bool sleep(std::int64_t deadline_ns) const noexcept;
  /// Wakes the threads inside `sleep`.
  void wake_sleepers() const noexcept { futex_wake(phase_, futex_scope::process); }

  void add_ref() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  /// Nobody but the caller has a reference.
  bool unshared() const noexcept { return refs_.load(std::memory_order_acquire) == 1; }
  void release() noexcept {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

 protected:
  virtual ~pending_core() = default;
  /// Called when the last reference is gone; override where cores are not made by `new`.
  virtual void destroy() noexcept { delete this; }

  /// True for the one producer who may store the result; that one then calls `finish`.
  bool claim() noexcept { return (phase_.fetch_or(claimed_bit, std::memory_order_relaxed) & claimed_bit) == 0; }
  /// Publishes the stored result, wakes blocked threads, posts the continuation.
  void finish() noexcept;
  /// True for the one consumer who may move the result out. Only when done.
  bool claim_value() noexcept { return (phase_.fetch_or(taken_bit, std::memory_order_acq_rel) & taken_bit) == 0; }

 private:
  static constexpr std::uint32_t claimed_bit = 1, done_bit = 2, reserved_bit = 4, continued_bit = 8, taken_bit = 16;
  static constexpr std::uint32_t one_blocked = 256;

  std::atomic<std::uint32_t> phase_{0};
  std::atomic<std::uint32_t> refs_{1};
  job* continuation_ = nullptr;
  waiter* const waiter_;
};

}  // namespace troupe
