// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/tasks/task_awaiters.hpp>

namespace troupe {

namespace detail {
template <class T>
class task_promise;
template <class X>
struct as_result_of {
  X source;
};
struct current_stop_token {};
struct current_executor {};
}  // namespace detail

/// A lazy coroutine: it runs only when another task awaits it, or when it is started. Move-only.
///
/// A started task and the tasks it awaits run on one executor; after waiting for a pending, a task resumes there. In a
/// `task<result<T>>`, `co_await` of a `pending<U>`, a `task<result<U>>` or a `result<U>` returns the U, or ends the
/// task with the error: the rest of the body does not run, its local objects are destroyed, and the coroutine that
/// awaits the task gets the error. `co_await as_result(x)` returns the `result<U>` itself. In any other task,
/// `co_await` returns the `result<U>`.
///
/// An exception that leaves the body of a `task<result<T>>` becomes a `fatal` error (a `bad_result` becomes the error
/// it holds). From any other task it propagates to the awaiting task.
///
/// A coroutine owns its parameters, but not the objects they refer to; the captures of a lambda belong to the lambda,
/// not to the coroutine. So a task that outlives the statement that creates it must take its parameters by value and
/// must not be a lambda with captures.
template <class T>
class [[nodiscard]] task {
  static_assert(!std::is_reference_v<T>, "a task returns a value: return a pointer or a ref instead of a reference");

 public:
  using value_type = T;
  using promise_type = detail::task_promise<T>;

  task() noexcept = default;
  explicit task(std::coroutine_handle<promise_type> handle) noexcept : handle_(handle) {}
  task(task&& o) noexcept : handle_(std::exchange(o.handle_, nullptr)) {}
  task& operator=(task o) noexcept {
    std::swap(handle_, o.handle_);
    return *this;
  }
  ~task() {
    if (handle_) handle_.destroy();
  }

  bool valid() const noexcept { return static_cast<bool>(handle_); }
  std::coroutine_handle<promise_type> handle() const noexcept { return handle_; }
  promise_type& promise() const noexcept { return handle_.promise(); }

 private:
  std::coroutine_handle<promise_type> handle_;
};

/// `co_await as_result(x)` returns the result of a pending or task; `co_await x` would return its value or end the
/// awaiting task.
template <class U>
detail::as_result_of<pending<U>> as_result(pending<U>&& x) noexcept {
  return {std::move(x)};
}
template <class U>
detail::as_result_of<pending<U>> as_result(pending<U>& x) noexcept {
  return {pending<U>(x.state())};
}
template <class U>
detail::as_result_of<task<result<U>>> as_result(task<result<U>> x) noexcept {
  return {std::move(x)};
}

/// `co_await get_stop_token()` in a task returns the `std::stop_token` by which the task is asked to stop.
inline detail::current_stop_token get_stop_token() noexcept { return {}; }
/// `co_await get_executor()` in a task returns the executor that the task runs on, on which it can start other work.
inline detail::current_executor get_executor() noexcept { return {}; }

namespace detail {

template <class T>
class task_promise final : public task_promise_base, public task_outcome<T> {
  static constexpr bool unwraps = is_result<T>;

 public:
  task<T> get_return_object() noexcept { return task<T>(std::coroutine_handle<task_promise>::from_promise(*this)); }
  task_outcome<T>& outcome() noexcept { return *this; }

  template <class U>
  auto await_transform(pending<U>&& x) noexcept {
    return await_pending<U, task_promise, unwraps>(std::move(x));
  }
  template <class U>
  auto await_transform(pending<U>& x) noexcept {
    return await_pending<U, task_promise, unwraps>(pending<U>(x.state()));
  }
  template <class U>
  auto await_transform(as_result_of<pending<U>> x) noexcept {
    return await_pending<U, task_promise, false>(std::move(x.source));
  }
  template <class U>
  auto await_transform(task<U>&& x) noexcept {
    return await_task < U, task_promise, unwraps && is_result < U >> (std::move(x));
  }
  template <class U>
  auto await_transform(as_result_of<task<U>> x) noexcept {
    return await_task<U, task_promise, false>(std::move(x.source));
  }
  template <class U>
  auto await_transform(result<U> x) noexcept {
    static_assert(unwraps, "only a task<result<T>> can await a result: use the result as it is");
    return await_result<U, task_promise>(std::move(x));
  }
  template <class X>
  auto await_transform(X&&) noexcept {
    static_assert(sizeof(X) == 0,
                  "a task awaits pendings, tasks and results: std::move a task into co_await, and turn "
                  "any other awaitable into a pending with a promise");
    return std::suspend_never{};
  }
  auto await_transform(current_stop_token) noexcept {
    return await_value<std::stop_token>{context().stop().get_token()};
  }
  auto await_transform(current_executor) noexcept { return await_value<executor&>{context().where()}; }
};

}  // namespace detail
}  // namespace troupe

#include <troupe/async/tasks/start.hpp>
