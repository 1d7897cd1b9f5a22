// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <utility>

namespace troupe::kernel {

/// A member of a request that knows its own place: g++ 12 copies the members of a temporary aggregate inside a co_await
/// expression byte for byte, and destroys both copies. The one at the wrong place has nothing to destroy.
template <class T>
class placed {
 public:
  placed() noexcept(std::is_nothrow_default_constructible_v<T>) : value_() {}
  placed(T value) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(value)) {}
  placed(const placed& o) : value_(o.value_) {}
  placed(placed&& o) noexcept(std::is_nothrow_move_constructible_v<T>) : value_(std::move(o.value_)) {}
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
  union {
    T value_;
  };
  const placed* self_ = this;
};

}  // namespace troupe::kernel
