// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <type_traits>
#include <utility>

namespace troupe {

/// A member that stores its own address. Inside a `co_await` expression, g++ 12 copies the members of a temporary
/// aggregate byte by byte, uses the copy and destroys both. A `placed` that is not at the address it stored is such a
/// copy and owns nothing: it destroys nothing, and moving from it leaves the original unchanged if `T` can be copied.
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
  // The original lives until the end of the co_await expression. If T can be copied, the value is copied from the bytes
  // of the bytewise copy; otherwise it is moved out of the original.
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
