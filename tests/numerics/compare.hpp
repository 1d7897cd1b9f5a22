// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <tests/numerics/reference.hpp>
#include <tests/numerics/stored.hpp>

namespace troupe::numerics {

/// Returns how far each part of a result may be from that of `e.value` if it is summed in `Compute` and stored as
/// `Stored`.
template <class Stored, class Compute = Stored>
wide tolerance(const expected& e) {
  using stored = part_of<Stored>;
  using compute = part_of<Compute>;
  if constexpr (std::is_integral_v<stored>) return 0;
  // A complex product is two real ones in each part, and their sum.
  const auto roundings = static_cast<wide>(is_complex_type<Compute> ? 2 * e.roundings + 4 : e.roundings);
  const wide sum = roundings * static_cast<wide>(std::numeric_limits<compute>::epsilon()) / 2;
  wide out = sum / (1 - sum) * e.magnitude;
  // Below the normal numbers an error is no longer relative, and every product can lose this much.
  out += roundings * static_cast<wide>(std::numeric_limits<compute>::denorm_min());
  if constexpr (!std::is_same_v<stored, compute>)
    out += e.value.size() * static_cast<wide>(std::numeric_limits<stored>::epsilon()) / 2 +
           widen(std::numeric_limits<stored>::denorm_min());
  return out;
}

/// Returns true if `e` allows `got`. NaN must meet NaN, an infinity the same infinity.
template <class Stored, class Compute = Stored>
bool agrees(const Stored& got, const expected& e) {
  const auto part_agrees = [&](wide value, wide want) {
    if (std::isnan(want)) return std::isnan(value);
    if (std::isinf(want)) return value == want;
    return std::fabs(value - want) <= tolerance<Stored, Compute>(e);
  };
  const number value(got);
  return part_agrees(value.re, e.value.re) && (!is_complex_type<Stored> || part_agrees(value.im, e.value.im));
}

namespace detail {
inline std::string digits(number v) {
  char out[100];
  std::snprintf(out, sizeof out, v.im == 0 ? "%.20Lg" : "%.20Lg%+.20Lgi", v.re, v.im);
  return out;
}
}  // namespace detail

/// Compares every stored element; a failure names the worst of them: its place, both values, and the ratio of error and
/// bound.
template <class T, class Compute = T>
::testing::AssertionResult all_agree(stored<T>& got, const answers& want) {
  std::size_t wrong = 0, count = 0;
  std::int64_t worst_i = 0, worst_j = 0;
  wide worst_excess = -1;
  got.each([&](std::int64_t i, std::int64_t j) {
    ++count;
    if (agrees<T, Compute>(got.at(i, j), want(i, j))) return;
    ++wrong;
    const wide excess = (number(got.at(i, j)) - want(i, j).value).size() / tolerance<T, Compute>(want(i, j));
    // A comparison with NaN is never true: then the first wrong element is as good as any.
    if (wrong == 1 || excess > worst_excess) worst_i = i, worst_j = j, worst_excess = excess;
  });
  if (wrong == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << wrong << " of " << count << " elements are wrong; the worst is (" << worst_i
                                       << ", " << worst_j << ") = " << detail::digits(got.at(worst_i, worst_j))
                                       << ", expected " << detail::digits(want(worst_i, worst_j).value) << ", off by "
                                       << detail::digits(worst_excess) << " times the bound";
}

/// Compares one number.
template <class T>
::testing::AssertionResult one_agrees(const T& got, const expected& want) {
  if (agrees(got, want)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << detail::digits(got) << ", expected " << detail::digits(want.value)
                                       << ", off by "
                                       << detail::digits((number(got) - want.value).size() / tolerance<T>(want))
                                       << " times the bound";
}

}  // namespace troupe::numerics
