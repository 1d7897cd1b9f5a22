// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <string>
#include <tests/numerics/random.hpp>
#include <tests/numerics/views.hpp>
#include <vector>

namespace troupe::numerics {

/// Memory for one operand, painted with NaN: within it, and for `margin` elements on either side. What is not an
/// element of the operand must neither be read, which would show as NaN in a result, nor written, which `untouched`
/// sees byte by byte.
template <class T>
class painted {
 public:
  static constexpr std::int64_t margin = 32;

  explicit painted(std::int64_t elements)
      : memory_(static_cast<std::size_t>(elements + 2 * margin), std::numeric_limits<T>::quiet_NaN()),
        elements_(elements) {}

  T* data() noexcept { return memory_.data() + margin; }
  std::uint64_t address() noexcept { return reinterpret_cast<std::uintptr_t>(data()); }
  std::uint64_t size() const noexcept { return static_cast<std::uint64_t>(elements_); }

  /// Gives every element of the view a random value.
  void fill(vector_view<T> v, random_source& random) {
    for (std::int64_t i = 0; i < v.n; ++i) v(i) = static_cast<T>(random.value());
  }
  void fill(matrix_view<T> m, random_source& random) {
    for (std::int64_t j = 0; j < m.columns; ++j)
      for (std::int64_t i = 0; i < m.rows; ++i) m(i, j) = static_cast<T>(random.value());
  }

  /// Keeps the content as it is now, for `before` and `untouched`.
  void remember() { before_ = memory_; }
  /// The remembered content, at the place that corresponds to data().
  const T* before() const noexcept { return before_.data() + margin; }

  /// Is everything outside the view as it was when remembered?
  ::testing::AssertionResult untouched_outside(vector_view<T> v) {
    std::vector<bool> inside(memory_.size());
    for (std::int64_t i = 0; i < v.n; ++i) inside[index(v.first, v.offset(i))] = true;
    return unchanged_where_not(inside);
  }
  ::testing::AssertionResult untouched_outside(matrix_view<T> m) {
    std::vector<bool> inside(memory_.size());
    for (std::int64_t j = 0; j < m.columns; ++j)
      for (std::int64_t i = 0; i < m.rows; ++i) inside[index(m.first, m.offset(i, j))] = true;
    return unchanged_where_not(inside);
  }
  ::testing::AssertionResult untouched() { return unchanged_where_not(std::vector<bool>(memory_.size())); }

 private:
  std::size_t index(const T* first, std::int64_t offset) {
    return static_cast<std::size_t>(first - memory_.data() + offset);
  }
  ::testing::AssertionResult unchanged_where_not(const std::vector<bool>& inside) {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if (!inside[i] && std::memcmp(&memory_[i], &before_[i], sizeof(T)) != 0)
        return ::testing::AssertionFailure() << "element " << static_cast<std::int64_t>(i) - margin << " of "
                                             << elements_ << " was changed, and is none of the result's";
    return ::testing::AssertionSuccess();
  }

  std::vector<T> memory_, before_;
  std::int64_t elements_;
};

}  // namespace troupe::numerics
