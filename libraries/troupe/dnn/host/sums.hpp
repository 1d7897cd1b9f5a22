// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/steps/iteration_space.hpp>
#include <vector>

/// Sums over sets of elements of an iteration space: the elements that share an element of another operand.
namespace troupe::dnn::host {

/// Returns the sums over `count` sets of elements. The set of an element is its offset in operand `set_operand`.
/// `line(l, sums, stride)` adds the elements of line l: the first to sums[0], the next to sums[stride] and so on.
/// `combine(a, b)` adds b to a. Parts of the work have fixed bounds, so that the result does not depend on the number
/// of threads.
template <class Line>
std::vector<double> sum_of_sets(const execution_context& on, const iteration_space& over, std::size_t set_operand,
                                std::int64_t count, double start, Line&& line, void (*combine)(double&, double)) {
  constexpr std::int64_t most_parts = 16, most_sums = 1 << 20, few = 1 << 15;
  const std::int64_t outer = over.outer_extent(), each = over.lines_per_outer();
  const bool are_disjoint = over.outer_stride(set_operand) != 0;  // true if no two parts add to the same set
  std::int64_t parts = std::min(most_parts, outer);
  if (outer * each * over.length() < few || (!are_disjoint && parts * count > most_sums)) parts = 1;
  std::vector<double> all(static_cast<std::size_t>(are_disjoint ? count : parts * count), start);
  on.team.spread(parts, 1, [&](std::int64_t part) {
    double* const sums = all.data() + (are_disjoint ? 0 : part * count);
    const std::int64_t first = part * outer / parts, last = (part + 1) * outer / parts;
    for (std::int64_t l = first * each; l < last * each; ++l)
      line(l, sums + over.begin(set_operand, l), over.line_stride(set_operand));
  });
  if (are_disjoint) return all;
  for (std::int64_t p = 1; p < parts; ++p)
    for (std::int64_t i = 0; i < count; ++i)
      combine(all[static_cast<std::size_t>(i)], all[static_cast<std::size_t>(p * count + i)]);
  all.resize(static_cast<std::size_t>(count));
  return all;
}

inline void add(double& a, double b) noexcept { a += b; }

/// Returns the sum of `value(i)` over i from 0 to n - 1, computed as several partial sums, so that they fit a vector.
template <class Value>
double sum_along(std::int64_t n, Value&& value) {
  constexpr std::int64_t wide = 8;
  double sums[wide] = {};
  std::int64_t i = 0;
  for (; i + wide <= n; i += wide)
    for (std::int64_t k = 0; k < wide; ++k) sums[k] += value(i + k);
  for (; i < n; ++i) sums[0] += value(i);
  double all = 0;
  for (const double s : sums) all += s;
  return all;
}

/// Calls `f(line)` for each line of an iteration space, on several threads.
template <class F>
void for_each_line_of(const execution_context& on, const iteration_space& over, F&& f) {
  constexpr std::int64_t part_size = 1 << 14;
  on.team.spread(over.lines(), std::max<std::int64_t>(1, part_size / over.length()), f);
}

}  // namespace troupe::dnn::host
