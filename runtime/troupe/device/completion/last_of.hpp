// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

namespace troupe {

/// Keeps the last `N` values added.
template <class T, std::size_t N>
class last_of {
 public:
  void add(const T& one) noexcept { kept_[count_++ % N] = one; }
  /// Calls `f` with each kept value, oldest first.
  template <class F>
  void each(F&& f) const {
    for (std::size_t i = count_ - std::min(N, count_); i < count_; ++i) f(kept_[i % N]);
  }
  /// Returns a kept value for which `which` returns true; null if there is none.
  template <class Which>
  const T* find(const Which& which) const noexcept {
    const auto end = kept_.begin() + std::min(count_, N);
    const auto found = std::find_if(kept_.begin(), end, which);
    return found == end ? nullptr : &*found;
  }

 private:
  std::array<T, N> kept_{};
  std::size_t count_ = 0;
};

}  // namespace troupe
