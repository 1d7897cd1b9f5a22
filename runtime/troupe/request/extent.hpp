// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <concepts>
#include <cstdint>

namespace troupe {

/// A number of elements, rows or steps: the integer type of every size in this library. It is signed, so that a
/// negative size is refused instead of becoming huge. It has no default value, so that a request cannot omit one by
/// accident. Arithmetic that overflows returns `extent::overflow()`, which every check refuses.
class extent {
  static constexpr std::int64_t overflow_value = INT64_MIN;
  template <class I>
  static constexpr bool fits(I v) noexcept {
    if constexpr (std::signed_integral<I>)
      return true;
    else
      return v <= static_cast<std::uint64_t>(INT64_MAX);
  }

 public:
  template <std::integral I>
  constexpr extent(I value) noexcept : value_(fits(value) ? static_cast<std::int64_t>(value) : overflow_value) {}

  constexpr std::int64_t value() const noexcept { return value_; }
  /// Converts to another integer type, as `static_cast` does.
  template <std::integral I>
  constexpr explicit operator I() const noexcept {
    return static_cast<I>(value_);
  }
  constexpr bool overflowed() const noexcept { return value_ == overflow_value; }
  static constexpr extent overflow() noexcept { return extent(overflow_value); }

  friend constexpr extent operator+(extent a, extent b) noexcept {
    std::int64_t r;
    return a.overflowed() || b.overflowed() || __builtin_add_overflow(a.value_, b.value_, &r) ? overflow() : extent(r);
  }
  friend constexpr extent operator-(extent a, extent b) noexcept {
    std::int64_t r;
    return a.overflowed() || b.overflowed() || __builtin_sub_overflow(a.value_, b.value_, &r) ? overflow() : extent(r);
  }
  friend constexpr extent operator*(extent a, extent b) noexcept {
    std::int64_t r;
    return a.overflowed() || b.overflowed() || __builtin_mul_overflow(a.value_, b.value_, &r) ? overflow() : extent(r);
  }
  /// Divides, rounding toward zero. A division by zero returns `overflow()`.
  friend constexpr extent operator/(extent a, extent b) noexcept {
    return a.overflowed() || b.overflowed() || b.value_ == 0 ? overflow() : extent(a.value_ / b.value_);
  }
  friend constexpr extent operator%(extent a, extent b) noexcept {
    return a.overflowed() || b.overflowed() || b.value_ == 0 ? overflow()
                                                             : extent(b.value_ == -1 ? 0 : a.value_ % b.value_);
  }
  friend constexpr bool operator==(extent a, extent b) noexcept = default;
  friend constexpr auto operator<=>(extent a, extent b) noexcept = default;

 private:
  std::int64_t value_;
};

/// Means "without gaps": the smallest leading dimension or stride that the shape allows. The default of extents that
/// may be left out.
inline constexpr extent tight{INT64_MIN + 1};

/// Returns the leading dimension, stride or increment to use: `given`, or `otherwise` if `given` is `tight`.
constexpr extent or_tight(extent given, extent otherwise) noexcept { return given == tight ? otherwise : given; }

}  // namespace troupe
