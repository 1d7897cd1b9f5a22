// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>
#include <troupe/dnn/operations/cumulative/attributes.hpp>
#include <troupe/dnn/operations/selection/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>
#include <vector>

namespace troupe::dnn::detail {

void add_along(const cumulative_attributes& a, inputs in, outputs out) {
  const auto axis = static_cast<std::size_t>(a.axis);
  const std::int64_t extent = out[0].shape.extents[axis];
  for_each_index(out[0].shape, [&](const tensor_index& first) {
    if (first[axis] != 0) return;
    tensor_index at = first;
    double sum = 0;
    for (std::int64_t i = 0; i < extent; ++i) {
      at[axis] = a.reversed != 0 ? extent - 1 - i : i;
      const double with = sum + in[0][at];
      out[0][at] = a.exclusive != 0 ? sum : with;
      sum = with;
    }
  });
}

void select_extremes(const selection_attributes& a, inputs in, outputs out) {
  const auto axis = static_cast<std::size_t>(a.axis);
  for_each_index(out[0].shape, [&](const tensor_index& at) {
    if (at[axis] != 0) return;
    tensor_index from = at, to = at;
    std::vector<double> line;
    for (std::int64_t i = 0; i < in[0].shape.extents[axis]; ++i) from[axis] = i, line.push_back(in[0][from]);
    std::vector<std::size_t> order(line.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto is_larger = [](double x, double y) { return std::isnan(x) ? !std::isnan(y) : x > y; };
    std::ranges::stable_sort(order, [&](std::size_t i, std::size_t k) {
      return a.smallest != 0 ? is_larger(line[k], line[i]) : is_larger(line[i], line[k]);
    });
    for (std::int64_t i = 0; i < out[0].shape.extents[axis]; ++i) {
      to[axis] = i;
      const std::size_t index = order[static_cast<std::size_t>(i)];
      out[0][to] = line[index], out[1][to] = static_cast<double>(index);
    }
  });
}

}  // namespace troupe::dnn::detail
