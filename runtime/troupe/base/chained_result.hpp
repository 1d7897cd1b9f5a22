// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/compiler/compiler.hpp>

#include <functional>
#include <type_traits>
#include <utility>

namespace troupe {

template <class T>
class result;

namespace detail {

/// The operations that `result<T>` and `result<void>` share. `f` receives the value; for `result<void>` it has no
/// parameter.
template <class R>
class chained {
 public:
  /// Returns `f(value)`, which is a result, or the error of this result.
  template <class F>
  auto and_then(F&& f) const& {
    return and_then(self(), std::forward<F>(f));
  }
  template <class F>
  auto and_then(F&& f) && {
    return and_then(std::move(*this).self(), std::forward<F>(f));
  }
  /// Returns a result that holds `f(value)`, or the error of this result.
  template <class F>
  auto transform(F&& f) const& {
    return transform(self(), std::forward<F>(f));
  }
  template <class F>
  auto transform(F&& f) && {
    return transform(std::move(*this).self(), std::forward<F>(f));
  }
  /// Returns this result if it holds a value, otherwise `f(error)`, which is a result of the same type.
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

}  // namespace troupe
