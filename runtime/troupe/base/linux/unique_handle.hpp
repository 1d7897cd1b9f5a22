// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/compiler/compiler.hpp>

#include <utility>

namespace troupe {

/// Owns one handle of the system or of a vendor library. `Traits` describes the handle:
///   using type = int; static constexpr type null = -1; static void close(type) noexcept;
/// Every handle in this code base is held by a unique_handle, so that no move or clean-up is written by hand.
template <class Traits>
class unique_handle {
 public:
  using type = typename Traits::type;

  unique_handle() noexcept = default;
  explicit unique_handle(type handle) noexcept : handle_(handle) {}
  unique_handle(unique_handle&& o) noexcept : handle_(o.release()) {}
  unique_handle& operator=(unique_handle&& o) noexcept {
    if (this != &o) reset(o.release());
    return *this;
  }
  ~unique_handle() { reset(); }

  type get() const noexcept { return handle_; }
  explicit operator bool() const noexcept { return handle_ != Traits::null; }
  type release() noexcept { return std::exchange(handle_, Traits::null); }
  void reset(type handle = Traits::null) noexcept {
    type old = std::exchange(handle_, handle);
    if (old != Traits::null) Traits::close(old);
  }

 private:
  type handle_ = Traits::null;
};

}  // namespace troupe
