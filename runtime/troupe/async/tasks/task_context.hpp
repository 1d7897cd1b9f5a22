// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <stop_token>
#include <troupe/async/executor.hpp>

namespace troupe::detail {

class task_promise_base;
class task_context;

/// The awaiter with which a coroutine of a task waits for a child coroutine.
class task_parent {
 public:
  /// Called when the child is suspended for the last time. Sets the next step in `task_context::next`.
  virtual void child_ended() noexcept = 0;

 protected:
  ~task_parent() = default;
};

/// The state that all coroutines of a started task share: their executor, their stop source, and the next step.
///
/// A coroutine never resumes another one. It sets the next step and suspends, and `drive`, the loop below it on the
/// stack, takes that step. So awaiting does not grow the stack in any build (symmetric transfer is a tail call in
/// optimized builds only), and a frame is never destroyed while it is on the stack.
class task_context {
 public:
  /// The next step of the loop: resume a coroutine, or notify the parent of one that has ended. Empty if the task waits
  /// for a pending.
  struct step {
    std::coroutine_handle<> resume = nullptr;
    task_promise_base* ended = nullptr;
  };

  explicit task_context(executor& where) noexcept : where_(where) {}
  task_context(const task_context&) = delete;
  task_context& operator=(const task_context&) = delete;

  executor& where() const noexcept { return where_; }
  std::stop_source& stop() noexcept { return stop_; }

  /// Runs the task from `first` until it waits or ends. The step is in the loop's frame, not in the context: once the
  /// task waits, another thread can drive or end it at any time, and this thread must not touch the context again.
  void drive(step first) noexcept;
  /// Valid only while a coroutine of this task runs, or inside `child_ended`.
  step& next() noexcept { return *next_; }

 protected:
  ~task_context() = default;
  /// Called when the coroutine that has no parent, the started task's own, has ended. May destroy the context.
  virtual void root_ended() noexcept = 0;

 private:
  executor& where_;
  step* next_ = nullptr;
  std::stop_source stop_;
};

/// The untyped part of a task's promise.
class task_promise_base {
 public:
  std::suspend_always initial_suspend() const noexcept { return {}; }
  auto final_suspend() noexcept {
    struct last {
      bool await_ready() const noexcept { return false; }
      void await_suspend(std::coroutine_handle<>) const noexcept { self->end(); }
      void await_resume() const noexcept {}
      task_promise_base* self;
    };
    return last{.self = this};
  }

  void belongs_to(task_context& context, task_parent* parent) noexcept {
    context_ = &context;
    parent_ = parent;
  }
  task_context& context() const noexcept { return *context_; }
  task_parent* parent() const noexcept { return parent_; }
  /// Called when the coroutine has ended: it will not be resumed.
  void end() noexcept { context_->next().ended = this; }

 private:
  task_context* context_ = nullptr;
  task_parent* parent_ = nullptr;
};

}  // namespace troupe::detail
