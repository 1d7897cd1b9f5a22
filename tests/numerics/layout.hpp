// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

/// The positions of a matrix's elements in memory, for every form of storage in BLAS.
namespace troupe::numerics {

struct layout {
  std::int64_t rows, columns;
  std::int64_t span;  ///< elements from the first to the last place, including gaps
  /// Returns the place of element (i, j); below 0 if it is not stored.
  std::function<std::int64_t(std::int64_t, std::int64_t)> place;
};

inline layout general(std::int64_t rows, std::int64_t columns, std::int64_t ld) {
  return {rows, columns, (columns - 1) * ld + rows, [=](auto i, auto j) { return i + j * ld; }};
}

/// Element i at i * inc, or at (n - 1 - i) * -inc if inc is negative.
inline layout vector_of(std::int64_t n, std::int64_t inc) {
  return {n, 1, (n - 1) * std::abs(inc) + 1, [=](auto i, auto) { return inc > 0 ? i * inc : (n - 1 - i) * -inc; }};
}

/// One triangle of an n by n matrix; a `unit` diagonal is not stored.
inline layout triangle_of(bool lower, bool unit, std::int64_t n, std::int64_t ld) {
  return {n, n, (n - 1) * ld + n,
          [=](auto i, auto j) { return (unit && i == j) || (lower ? i < j : i > j) ? -1 : i + j * ld; }};
}
inline layout packed_triangle(bool lower, bool unit, std::int64_t n) {
  return {n, n, n * (n + 1) / 2, [=](std::int64_t i, std::int64_t j) -> std::int64_t {
            if ((unit && i == j) || (lower ? i < j : i > j)) return -1;
            return lower ? i - j + j * n - j * (j - 1) / 2 : i + j * (j + 1) / 2;
          }};
}

/// A band of kl diagonals below the main one and ku above it: each diagonal is a row.
inline layout band(std::int64_t rows, std::int64_t columns, std::int64_t kl, std::int64_t ku, std::int64_t ld) {
  return {rows, columns, (columns - 1) * ld + kl + ku + 1, [=](std::int64_t i, std::int64_t j) -> std::int64_t {
            return i - j > kl || j - i > ku ? -1 : ku + i - j + j * ld;
          }};
}
inline layout band_triangle(bool lower, bool unit, std::int64_t n, std::int64_t k, std::int64_t ld) {
  const layout all = lower ? band(n, n, k, 0, ld) : band(n, n, 0, k, ld);
  return {n, n, all.span, [=](auto i, auto j) { return unit && i == j ? -1 : all.place(i, j); }};
}

}  // namespace troupe::numerics
