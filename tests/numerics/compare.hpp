// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <tests/numerics/reference.hpp>

namespace troupe::numerics {

/// How far a result may be from `e.value` when it is summed in `Compute` and stored as `Stored`.
template <class Stored, class Compute = Stored>
wide tolerance(const expected& e) {
  const wide u = static_cast<wide>(std::numeric_limits<Compute>::epsilon()) / 2;
  const wide sum = static_cast<wide>(e.roundings) * u;
  wide out = sum / (1 - sum) * e.magnitude;
  // Below the normal numbers an error is not relative any more, and every product can lose that much.
  out += static_cast<wide>(e.roundings) * static_cast<wide>(std::numeric_limits<Compute>::denorm_min());
  if constexpr (!std::is_same_v<Stored, Compute>)
    out += std::fabs(e.value) * static_cast<wide>(std::numeric_limits<Stored>::epsilon()) / 2 +
           widen(std::numeric_limits<Stored>::denorm_min());
  return out;
}

/// Is `got` what `e` allows? NaN must meet NaN, an infinity the same infinity.
template <class Stored, class Compute = Stored>
bool agrees(const Stored& got, const expected& e) {
  const wide value = widen(got);
  if (std::isnan(e.value)) return std::isnan(value);
  if (std::isinf(e.value)) return value == e.value;
  return std::fabs(value - e.value) <= tolerance<Stored, Compute>(e);
}

namespace detail {
inline std::string digits(wide v) {
  char out[48];
  std::snprintf(out, sizeof out, "%.20Lg", v);
  return out;
}
}  // namespace detail

/// Compares every element; a failure names the worst of the first kind: where, got, expected, and how many times the
/// bound. `name(i)` says where element i is, `got(i)` what is there.
template <class Compute, class Got, class Name>
::testing::AssertionResult all_agree(const std::vector<expected>& want, Got&& got, Name&& name) {
  std::size_t wrong = 0, worst = 0;
  wide worst_excess = -1;
  for (std::size_t i = 0; i < want.size(); ++i) {
    const auto value = got(static_cast<std::int64_t>(i));
    using stored = std::remove_cvref_t<decltype(value)>;
    if (agrees<stored, Compute>(value, want[i])) continue;
    ++wrong;
    const wide excess = std::fabs(widen(value) - want[i].value) / tolerance<stored, Compute>(want[i]);
    // A comparison with NaN is never true: then the first wrong element is as good as any.
    if (wrong == 1 || excess > worst_excess) worst = i, worst_excess = excess;
  }
  if (wrong == 0) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << wrong << " of " << want.size() << " elements are wrong; the worst is "
                                       << name(worst) << " = "
                                       << detail::digits(widen(got(static_cast<std::int64_t>(worst)))) << ", expected "
                                       << detail::digits(want[worst].value) << ", off by "
                                       << detail::digits(worst_excess) << " times the bound";
}

template <class T, class Compute = std::remove_cv_t<T>>
::testing::AssertionResult all_agree(vector_view<T> got, const std::vector<expected>& want) {
  return all_agree<Compute>(
      want, [&](std::int64_t i) { return got(i); }, [](std::size_t i) { return "(" + std::to_string(i) + ")"; });
}

template <class T, class Compute = std::remove_cv_t<T>>
::testing::AssertionResult all_agree(matrix_view<T> got, const std::vector<expected>& want) {
  return all_agree<Compute>(
      want, [&](std::int64_t i) { return got(i % got.rows, i / got.rows); },
      [&](std::size_t i) {
        const auto rows = static_cast<std::size_t>(got.rows);
        return "(" + std::to_string(i % rows) + ", " + std::to_string(i / rows) + ")";
      });
}

}  // namespace troupe::numerics
