// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstdint>
#include <troupe/async/executor.hpp>
#include <troupe/base/linux/futex.hpp>

namespace troupe {

class pending_core;

/// Lets a thread that waits for an answer do the work that leads to the answer, instead of sleeping until another
/// thread does that work. A runtime attaches one to the cores whose answers it sets.
struct waiter {
  /// Called by a blocking get while the core is not done. Returns when `core.done()` or when the deadline has passed;
  /// an early return is harmless. An implementation that sleeps must read the word it sleeps on *before* it checks
  /// `core.done()`, so that it cannot miss `answered`.
  virtual void wait(pending_core& core, std::int64_t deadline_ns) noexcept = 0;
  /// Called after a continuation was attached to a core that was not done: the answer is needed, though no thread
  /// blocks for it. The core may have been answered in the meantime; it is alive during the call.
  virtual void interest_added(pending_core& core) noexcept = 0;
  /// Called by the answering thread before it posts the continuation: exactly once for each `interest_added`, on any
  /// thread, and possibly before `interest_added`.
  virtual void interest_met(pending_core& core) noexcept;
  /// Called by the answering thread if a thread is inside `wait` for this core; both can be the same thread.
  virtual void answered(pending_core& core) noexcept;

 protected:
  ~waiter() = default;
};

/// The request that an answer comes from, as a number that its producer understands.
struct answer_source {
  static constexpr std::uint32_t nowhere = UINT32_MAX;
  std::uint32_t place = nowhere;  ///< the request's place in the mailbox; `nowhere`: unknown
  std::uint64_t number = 0;
};

/// The effect of `pending_core::attach`.
enum class attach_outcome : std::uint8_t {
  attached,      ///< the job will be posted when the answer arrives
  already_done,  ///< the answer is there: the job will not be posted, and the caller continues itself
  refused,       ///< another continuation is attached already
};

/// The untyped part of a `pending`: its answer's state, and the threads or the continuation that wait for the answer.
/// Reference-counted; starts with one reference. A thread that sets the answer must hold a reference while it does so.
///
/// The modification order of one word, `phase`, decides everything. It has flags that are never cleared, and in the
/// upper bits the number of blocked threads. Let D be the step that sets `done`.
///  - Answered once: a producer sets `claimed` first. Only the producer that found it clear stores a result and takes
///    step D, which publishes the result (release) to a thread that reads `done` (acquire).
///  - Continued once: the thread that found `reserved` clear owns the continuation's slot. It writes the slot, then
///    publishes it by setting `continued` in step C. If C is before D, D sees the flag and posts the job, and C, which
///    saw no `done`, does nothing more. If D is before C, D saw no flag and posts nothing, and C sees `done` and
///    continues itself.
///  - No sleeper is missed: a thread counts itself in step B. If B is before D, D sees the count and wakes. If D is
///    before B, B sees `done` and does not sleep. The futex compares the word, so a step D between B and the sleep
///    prevents the sleep.
///  - Taken once: the value belongs to the thread that found `taken` clear after `done`.
class pending_core {
 public:
  explicit pending_core(waiter* helper = nullptr) noexcept : waiter_(helper) {}
  pending_core(const pending_core&) = delete;
  pending_core& operator=(const pending_core&) = delete;

  /// Returns true if the answer has arrived.
  bool done() const noexcept { return (phase_.load(std::memory_order_acquire) & done_bit) != 0; }
  /// Returns true if a continuation is attached.
  bool has_continuation() const noexcept { return (phase_.load() & continued_bit) != 0; }
  /// Returns true if at least one thread blocks for the answer.
  bool has_blocked_waiter() const noexcept { return phase_.load() >= one_blocked; }

  /// Blocks until the core is done or the deadline (monotonic clock) has passed; returns `done()`.
  bool wait(std::int64_t deadline_ns = no_deadline) noexcept;

  /// Posts the job to the executor once the answer arrives. Job and executor must live until then. After `attached` the
  /// caller must not touch the job, which may have run.
  attach_outcome attach(executor& where, job& continuation) noexcept;

  /// Asks the producer to stop the work. The producer must still answer, with a result or an error.
  virtual void cancel() noexcept {}
  /// Returns the request whose end leads to the answer. Used by the waiter.
  virtual answer_source source() const noexcept { return {}; }

  /// Sleeps until done, a spurious wake, or the deadline. For waiters that have no word of their own to sleep on; call
  /// it only inside `waiter::wait`. Returns false if the deadline has passed.
  bool sleep(std::int64_t deadline_ns) const noexcept;
  /// Wakes the threads inside `sleep`.
  void wake_sleepers() const noexcept { futex_wake(phase_, futex_scope::process); }

  void add_ref() noexcept { refs_.fetch_add(1, std::memory_order_relaxed); }
  /// Returns true if only the caller has a reference.
  bool unshared() const noexcept { return refs_.load(std::memory_order_acquire) == 1; }
  void release() noexcept {
    if (refs_.fetch_sub(1, std::memory_order_acq_rel) == 1) destroy();
  }

 protected:
  virtual ~pending_core() = default;
  /// Called when the last reference is released; override it if cores are not made by `new`.
  virtual void destroy() noexcept { delete this; }

  /// Returns true for exactly one producer: it may store the result and must then call `finish`.
  bool claim() noexcept { return (phase_.fetch_or(claimed_bit, std::memory_order_relaxed) & claimed_bit) == 0; }
  /// Publishes the stored result, wakes blocked threads, posts the continuation.
  void finish() noexcept;
  /// Returns true for exactly one consumer: it may move the result out. Precondition: the core is done.
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
