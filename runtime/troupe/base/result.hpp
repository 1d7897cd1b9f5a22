// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <functional>
#include <memory>
#include <new>
#include <string>
#include <troupe/base/error.hpp>
#include <type_traits>
#include <utility>

namespace troupe {

/// Thrown by `result::value()` when there is none. The only exception this library throws by itself.
class bad_result : public std::exception {
 public:
  explicit bad_result(class error e) : error_(std::move(e)), what_(error_.to_string()) {}
  const char* what() const noexcept override { return what_.c_str(); }
  const class error& error() const noexcept { return error_; }

 private:
  class error error_;
  std::string what_;
};

namespace detail {

// What results with a value and without have alike. `f` is called with the value where there is one.
template <class R>
class chained {
 public:
  /// `f(value)`, which returns a result, or this error.
  template <class F>
  auto and_then(F&& f) const& {
    return and_then(self(), std::forward<F>(f));
  }
  template <class F>
  auto and_then(F&& f) && {
    return and_then(std::move(*this).self(), std::forward<F>(f));
  }
  /// A result with what `f(value)` returns, or this error.
  template <class F>
  auto transform(F&& f) const& {
    return transform(self(), std::forward<F>(f));
  }
  template <class F>
  auto transform(F&& f) && {
    return transform(std::move(*this).self(), std::forward<F>(f));
  }
  /// This value, or the result that `f(error)` returns.
  template <class F>
  R or_else(F&& f) const& {
    return self() ? self() : R(std::invoke(std::forward<F>(f), self().error()));
  }
  template <class F>
  R or_else(F&& f) && {
    return self() ? std::move(*this).self() : R(std::invoke(std::forward<F>(f), self().error()));
  }

 private:
  const R& self() const& { return static_cast<const R&>(*this); }
  R&& self() && { return static_cast<R&&>(*this); }

  template <class Self, class F>
  static constexpr decltype(auto) call(Self&& r, F&& f) {
    if constexpr (std::is_void_v<typename R::value_type>)
      return std::invoke(std::forward<F>(f));
    else
      return std::invoke(std::forward<F>(f), *std::forward<Self>(r));
  }
  template <class Self, class F>
  static auto and_then(Self&& r, F&& f) {
    using next = std::remove_cvref_t<decltype(call(std::forward<Self>(r), std::forward<F>(f)))>;
    return r ? call(std::forward<Self>(r), std::forward<F>(f)) : next(r.error());
  }
  template <class Self, class F>
  static auto transform(Self&& r, F&& f) {
    using value = std::remove_cvref_t<decltype(call(std::forward<Self>(r), std::forward<F>(f)))>;
    if (!r) return result<value>(r.error());
    if constexpr (std::is_void_v<value>) {
      call(std::forward<Self>(r), std::forward<F>(f));
      return result<value>();
    } else {
      return result<value>(call(std::forward<Self>(r), std::forward<F>(f)));
    }
  }
};

}  // namespace detail

/// A value or an `error`. Returned wherever a call can fail; must not be ignored.
/// What it has in common with `std::expected` has the names and the meaning of C++23's.
template <class T>
class [[nodiscard]] result : public detail::chained<result<T>> {
 public:
  using value_type = T;
  using error_type = class error;

  result(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : ok_(true) {
    std::construct_at(&value_, std::move(value));
  }
  result(class error e) noexcept : error_(std::move(e)), ok_(false) {}
  result(const result& o)
    requires std::is_copy_constructible_v<T>
      : error_(o.error_), ok_(o.ok_) {
    if (ok_) std::construct_at(&value_, o.value_);
  }
  result(result&& o) noexcept(std::is_nothrow_move_constructible_v<T>) : error_(std::move(o.error_)), ok_(o.ok_) {
    if (ok_) std::construct_at(&value_, std::move(o.value_));
  }
  result& operator=(result o) noexcept(std::is_nothrow_move_constructible_v<T>) {
    if (ok_) std::destroy_at(&value_);
    ok_ = false;  // should the move throw
    if (o.ok_) std::construct_at(&value_, std::move(o.value_));
    ok_ = o.ok_;
    error_ = std::move(o.error_);
    return *this;
  }
  ~result() {
    if (ok_) std::destroy_at(&value_);
  }

  explicit operator bool() const noexcept { return ok_; }
  bool has_value() const noexcept { return ok_; }

  T& operator*() & noexcept { return value_; }
  const T& operator*() const& noexcept { return value_; }
  T&& operator*() && noexcept { return std::move(value_); }
  T* operator->() noexcept { return &value_; }
  const T* operator->() const noexcept { return &value_; }

  /// The value; throws `bad_result` when there is none.
  T& value() & { return need(), value_; }
  const T& value() const& { return need(), value_; }
  T&& value() && { return need(), std::move(value_); }
  template <class U>
  T value_or(U&& other) const& {
    return ok_ ? value_ : static_cast<T>(std::forward<U>(other));
  }
  template <class U>
  T value_or(U&& other) && {
    return ok_ ? std::move(value_) : static_cast<T>(std::forward<U>(other));
  }

  /// The error; only when there is no value.
  const class error& error() const noexcept { return error_; }

 private:
  void need() const {
    if (!ok_) throw bad_result(error_);
  }

  union {
    T value_;
  };
  class error error_;  // beside the value, not in its place: g++ 12 warns of uninitialised use otherwise
  bool ok_;
};

template <>
class [[nodiscard]] result<void> : public detail::chained<result<void>> {
 public:
  using value_type = void;
  using error_type = class error;

  result() noexcept = default;
  result(class error e) noexcept : error_(std::move(e)), ok_(false) {}

  explicit operator bool() const noexcept { return ok_; }
  bool has_value() const noexcept { return ok_; }
  void operator*() const noexcept {}
  void value() const {
    if (!ok_) throw bad_result(error_);
  }
  const class error& error() const noexcept { return error_; }

 private:
  class error error_;
  bool ok_ = true;
};

template <class T>
inline constexpr bool is_result = false;
template <class T>
inline constexpr bool is_result<result<T>> = true;

}  // namespace troupe
