// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <type_traits>
#include <utility>

namespace troupe {

/// A counted reference to an object with `add_ref()` and `release()`. As large as a pointer.
template <class T>
class ref {
 public:
  ref() noexcept = default;
  /// Takes over a reference that is counted already: a new object starts with a count of one.
  static ref adopt(T* object) noexcept { return ref(object); }
  /// Adds a reference.
  static ref share(T* object) noexcept {
    if (object) object->add_ref();
    return ref(object);
  }

  ref(const ref& o) noexcept : object_(o.object_) {
    if (object_) object_->add_ref();
  }
  ref(ref&& o) noexcept : object_(o.leak()) {}
  template <class U>
    requires std::is_convertible_v<U*, T*>
  ref(ref<U> o) noexcept : object_(o.leak()) {}
  ref& operator=(ref o) noexcept {
    std::swap(object_, o.object_);
    return *this;
  }
  ~ref() {
    if (object_) object_->release();
  }

  T* get() const noexcept { return object_; }
  T* operator->() const noexcept { return object_; }
  T& operator*() const noexcept { return *object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }
  /// Passes the reference to the caller, who must call `release()`.
  [[nodiscard]] T* leak() noexcept { return std::exchange(object_, nullptr); }

 private:
  explicit ref(T* object) noexcept : object_(object) {}
  T* object_ = nullptr;
};

}  // namespace troupe
