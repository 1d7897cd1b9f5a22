// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <stop_token>
#include <troupe/async/answers/pending_state.hpp>
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

error no_co_return();
error empty_task();

/// The outcome of the body of a `task<T>`: a value or an exception.
class task_exception {
 public:
  void unhandled_exception() noexcept { exception_ = std::current_exception(); }
  /// Sets the outcome of a body that never ran.
  void abandon(error e) noexcept { exception_ = std::make_exception_ptr(bad_result(std::move(e))); }

 protected:
  void rethrow() const {
    if (exception_) std::rethrow_exception(exception_);
  }

 private:
  std::exception_ptr exception_;
};

template <class T>
class task_outcome : public task_exception {
 public:
  template <class U = T>
    requires std::is_convertible_v<U&&, T>
  void return_value(U&& value) {
    value_.emplace(std::forward<U>(value));
  }
  T get() && {
    rethrow();
    return std::move(*value_);
  }
  result<T> to_result() && noexcept try { return std::move(*this).get(); } catch (...) {
    return from_current_exception("task");
  }

 private:
  std::optional<T> value_;
};

template <>
class task_outcome<void> : public task_exception {
 public:
  void return_void() const noexcept {}
  void get() && { rethrow(); }
  result<void> to_result() && noexcept try {
    rethrow();
    return {};
  } catch (...) {
    return from_current_exception("task");
  }
};

/// The outcome of a task that returns a result: exceptions become errors, and an awaiter can end the task with an
/// error.
template <class V>
class task_outcome<result<V>> {
 public:
  void return_value(result<V> answer) noexcept { answer_.emplace(std::move(answer)); }
  template <class U>
    requires(std::is_convertible_v<U &&, V> && !std::is_convertible_v<U &&, result<V>>)
  void return_value(U&& value) {
    answer_.emplace(V(std::forward<U>(value)));
  }
  void unhandled_exception() noexcept { answer_.emplace(from_current_exception("task")); }
  void abandon(error e) noexcept { fail(std::move(e)); }
  void fail(error e) noexcept { answer_.emplace(std::move(e)); }
  const error* failure() noexcept {
    if (!answer_) fail(no_co_return());
    return *answer_ ? nullptr : &answer_->error();
  }

  result<V> get() && noexcept { return answer_ ? std::move(*answer_) : no_co_return(); }
  result<V> to_result() && noexcept { return std::move(*this).get(); }

 private:
  std::optional<result<V>> answer_;
};

}  // namespace troupe::detail
