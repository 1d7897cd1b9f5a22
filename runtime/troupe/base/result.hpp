// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <memory>
#include <new>
#include <string>
#include <troupe/base/chained_result.hpp>
#include <troupe/base/error.hpp>
#include <type_traits>
#include <utility>

namespace troupe {

/// Thrown by `result::value()` if the result holds an error. The library itself throws no other exception.
class bad_result : public std::exception {
 public:
  explicit bad_result(class error e) : error_(std::move(e)), what_(error_.to_string()) {}
  const char* what() const noexcept override { return what_.c_str(); }
  const class error& error() const noexcept { return error_; }

 private:
  class error error_;
  std::string what_;
};

/// A value or an `error`: what every call that can fail returns. It must not be ignored. Members that `std::expected`
/// also has are named, and behave, as in C++23.
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
    ok_ = false;  // stays false if the move throws
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

  /// Returns the value. Throws `bad_result` if the result holds an error.
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

  /// Returns the error. Precondition: the result holds no value.
  const class error& error() const noexcept { return error_; }

 private:
  void need() const {
    if (!ok_) throw bad_result(error_);
  }

  union {
    T value_;
  };
  class error error_;  // not in a union with the value: g++ 12 would warn of uninitialized use
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
