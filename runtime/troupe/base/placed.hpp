// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace troupe {

/// A member that knows its own place. Inside a `co_await` expression g++ 12 copies the members of a temporary aggregate
/// byte for byte, uses that copy, and destroys both. The copy at the wrong place owns nothing: it has nothing to
/// destroy, and what is moved out of it leaves the original as it is.
template <class T>
class placed {
 public:
  placed() noexcept(std::is_nothrow_default_constructible_v<T>) : value_() {}
  placed(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value)) {}
  placed(const placed& o)
    requires std::is_copy_constructible_v<T>
      : value_(o.value_) {}
  placed(placed&& o) : value_(take(o)) {}
  placed& operator=(placed o) noexcept(std::is_nothrow_move_assignable_v<T>) {
    value_ = std::move(o.value_);
    return *this;
  }
  ~placed() {
    if (self_ == this) std::destroy_at(&value_);
  }

  T& operator*() noexcept { return value_; }
  const T& operator*() const noexcept { return value_; }
  T* operator->() noexcept { return &value_; }
  const T* operator->() const noexcept { return &value_; }

 private:
  // The original lives until the end of the co_await expression. What can be copied is copied from its bytes; what
  // cannot is taken from where it really is.
  static T take(placed& o) {
    if (o.self_ == &o) return std::move(o.value_);
    if constexpr (std::is_copy_constructible_v<T>)
      return o.value_;
    else
      return std::move(const_cast<placed*>(o.self_)->value_);
  }

  union {
    T value_;
  };
  const placed* self_ = this;
};

}  // namespace troupe
