// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/pending.hpp>
#include <troupe/async/tasks/task_outcome.hpp>

// The awaiters of `co_await` inside a task. `Promise` is the type of the awaiting coroutine's promise. With `Unwrap`,
// an error ends that coroutine instead of resuming it: its promise gets the error, and its parent continues.
namespace troupe {

template <class T>
class task;

namespace detail {

template <bool Unwrap, class U>
auto unwrap(result<U>&& answer) {
  if constexpr (Unwrap) {
    return *std::move(answer);
  } else {
    return std::move(answer);
  }
}

template <class U, class Promise, bool Unwrap>
class await_pending final : private job {
 public:
  explicit await_pending(pending<U> source) noexcept : job{.run = &answered}, source_(std::move(source)) {}
  await_pending(const await_pending&) = delete;

  bool await_ready() { return source_.ready() && take(); }
  bool await_suspend(std::coroutine_handle<Promise> awaiting) {
    if (!answer_) {
      awaiting_ = awaiting;
      if (source_.state()->attach(awaiting.promise().context().where(), *this) == attach_outcome::attached) return true;
      if (take()) return false;
    }
    fail(awaiting.promise());
    awaiting.promise().end();
    return true;
  }
  auto await_resume() { return unwrap<Unwrap>(std::move(*answer_)); }

 private:
  static void answered(job* self) noexcept {
    auto* me = static_cast<await_pending*>(self);
    Promise& promise = me->awaiting_.promise();
    if (me->take()) return promise.context().drive({.resume = me->awaiting_});
    me->fail(promise);
    promise.context().drive({.ended = &promise});
  }
  /// Returns false if the coroutine must not continue.
  bool take() {
    answer_.emplace(source_.take());
    return !Unwrap || *answer_;
  }
  void fail([[maybe_unused]] Promise& promise) noexcept {
    if constexpr (Unwrap) promise.fail(answer_->error());
  }

  pending<U> source_;
  std::coroutine_handle<Promise> awaiting_;
  std::optional<result<U>> answer_;
};

template <class T, class Promise, bool Unwrap>
class await_task final : private task_parent {
 public:
  explicit await_task(task<T> child) noexcept : child_(std::move(child)) {}
  await_task(const await_task&) = delete;

  bool await_ready() const noexcept { return false; }
  void await_suspend(std::coroutine_handle<Promise> awaiting) noexcept {
    awaiting_ = awaiting;
    task_context& context = awaiting.promise().context();
    if (!child_.valid()) return child_ended();
    child_.promise().belongs_to(context, this);
    context.next().resume = child_.handle();
  }
  auto await_resume() {
    if constexpr (Unwrap) {
      return *(*std::move(outcome_)).get();
    } else {
      return (*std::move(outcome_)).get();
    }
  }

 private:
  void child_ended() noexcept override {
    Promise& promise = awaiting_.promise();
    if (child_.valid()) {
      outcome_.emplace(std::move(child_.promise().outcome()));
      child_ = {};  // destroys the child's frame before its parent continues
    } else {
      outcome_.emplace().abandon(empty_task());
    }
    if constexpr (Unwrap) {
      if (const error* e = outcome_->failure()) {
        promise.fail(*e);
        return promise.end();
      }
    }
    promise.context().next().resume = awaiting_;
  }

  task<T> child_;
  std::optional<task_outcome<T>> outcome_;
  std::coroutine_handle<Promise> awaiting_;
};

template <class U, class Promise>
class await_result final {
 public:
  explicit await_result(result<U> answer) noexcept : answer_(std::move(answer)) {}
  bool await_ready() const noexcept { return static_cast<bool>(answer_); }
  void await_suspend(std::coroutine_handle<Promise> awaiting) const noexcept {
    awaiting.promise().fail(answer_.error());
    awaiting.promise().end();
  }
  U await_resume() { return *std::move(answer_); }

 private:
  result<U> answer_;
};

/// A value that is known without waiting.
template <class T>
struct await_value {
  bool await_ready() const noexcept { return true; }
  void await_suspend(std::coroutine_handle<>) const noexcept {}
  T await_resume() const noexcept { return value; }
  T value;
};

}  // namespace detail
}  // namespace troupe
