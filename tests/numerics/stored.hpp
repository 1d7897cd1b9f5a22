// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <tests/numerics/dense.hpp>
#include <tests/numerics/layout.hpp>
#include <tests/numerics/random.hpp>
#include <troupe/request/operands/operand.hpp>
#include <vector>

namespace troupe::numerics {

/// An operand in memory, filled with NaN, with `margin` elements of NaN on either side. A request must not touch memory
/// outside the operand's elements: a read shows as NaN in a result, and `untouched` detects a write, byte by byte.
template <class T>
class stored {
 public:
  static constexpr std::int64_t margin = 32;

  explicit stored(layout where)
      : where_(std::move(where)),
        memory_(static_cast<std::size_t>(where_.span + 2 * margin), poison<T>()),
        before_(memory_) {}

  const layout& where() const { return where_; }
  T* data() { return memory_.data() + margin; }
  T& at(std::int64_t i, std::int64_t j = 0) { return data()[where_.place(i, j)]; }
  template <access_mode M>
  operator operand<T, M>() {
    return {reinterpret_cast<std::uintptr_t>(data()), static_cast<std::uint64_t>(where_.span)};
  }

  /// Calls f(i, j) for each element that is stored.
  template <class F>
  void each(F&& f) const {
    for (std::int64_t j = 0; j < where_.columns; ++j)
      for (std::int64_t i = 0; i < where_.rows; ++i)
        if (where_.place(i, j) >= 0) f(i, j);
  }

  /// Gives every element a random value, in (-1, 1); whole numbers are of all sizes.
  void fill(random_source& random) {
    each([&](auto i, auto j) { at(i, j) = random_element(random); });
    remember();
  }
  void set(const dense& values) {
    each([&](auto i, auto j) { at(i, j) = as_element<T>(values(i, j)); });
    remember();
  }
  /// Saves the current content, for `before` and `untouched`.
  void remember() { before_ = memory_; }

  /// Returns the matrix; elements that are not stored are 0.
  dense now() const { return read(memory_); }
  dense before() const { return read(before_); }

  /// Returns true if all memory outside the elements is as it was when saved.
  ::testing::AssertionResult untouched_outside() const {
    std::vector<bool> inside(memory_.size());
    each([&](auto i, auto j) { inside[static_cast<std::size_t>(margin + where_.place(i, j))] = true; });
    return unchanged_where_not(inside);
  }
  ::testing::AssertionResult untouched() const { return unchanged_where_not(std::vector<bool>(memory_.size())); }

 private:
  static T random_element(random_source& random) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(random.between(std::numeric_limits<T>::min(), std::numeric_limits<T>::max()));
    else if constexpr (is_complex_type<T>)
      return as_element<T>({random.value(), random.value()});
    else
      return as_element<T>(random.value());
  }
  dense read(const std::vector<T>& memory) const {
    dense out(where_.rows, where_.columns);
    each([&](auto i, auto j) { out(i, j) = memory[static_cast<std::size_t>(margin + where_.place(i, j))]; });
    return out;
  }
  ::testing::AssertionResult unchanged_where_not(const std::vector<bool>& inside) const {
    for (std::size_t i = 0; i < memory_.size(); ++i)
      if (!inside[i] && std::memcmp(&memory_[i], &before_[i], sizeof(T)) != 0)
        return ::testing::AssertionFailure() << "element " << static_cast<std::int64_t>(i) - margin << " of "
                                             << where_.span << " was changed, but is not part of the result";
    return ::testing::AssertionSuccess();
  }

  layout where_;
  std::vector<T> memory_, before_;
};

}  // namespace troupe::numerics
