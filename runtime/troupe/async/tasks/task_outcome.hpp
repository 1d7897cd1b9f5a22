// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <troupe/async/answers/pending_state.hpp>

namespace troupe::detail {

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
