// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <limits>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>
#include <troupe/epilogue/op_definitions.hpp>
#include <vector>

namespace troupe::dnn::detail {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

double start_of(reduction_kind kind) noexcept {
  switch (kind) {
    case reduction_kind::maximum:
      return -infinite;
    case reduction_kind::minimum:
      return infinite;
    case reduction_kind::product:
      return 1;
    default:
      return 0;
  }
}
double combined(reduction_kind kind, double so_far, double x) noexcept {
  switch (kind) {
    case reduction_kind::sum:
    case reduction_kind::mean:
      return so_far + x;
    case reduction_kind::maximum:
      return epilogue::value_of(epilogue::op::maximum, so_far, x);
    case reduction_kind::minimum:
      return epilogue::value_of(epilogue::op::minimum, so_far, x);
    case reduction_kind::product:
      return so_far * x;
    case reduction_kind::absolute_maximum:
      return epilogue::value_of(epilogue::op::maximum, so_far, std::fabs(x));
    case reduction_kind::norm1:
      return so_far + std::fabs(x);
    case reduction_kind::norm2:
      return so_far + x * x;
  }
  return x;
}

// Calls `f(indexes)` for each row of elements along an axis, with the indexes of the row's elements.
template <class F>
void for_each_row(const tensor_shape& s, std::int64_t along, F&& f) {
  const auto i = static_cast<std::size_t>(along);
  tensor_shape rows = s;
  rows.extents[i] = 1;
  std::vector<tensor_index> indexes(static_cast<std::size_t>(s.extents[i]));
  for_each_index(rows, [&](tensor_index at) {
    for (tensor_index& each : indexes) {
      each = at;
      ++at[i];
    }
    f(std::as_const(indexes));
  });
}

}  // namespace

void multiply(const no_attributes&, inputs in, outputs out) {
  const input_values a = in[0], b = in[1];
  const output_values y = out[0];
  const std::size_t row = y.shape.rank - 2, column = y.shape.rank - 1;
  for_each_index(y.shape, [&](const tensor_index& at) {
    tensor_index left = at, right = at;
    for (std::int64_t k = 0; k < a.shape.extents[column]; ++k) {
      left[column] = right[row] = k;
      y[at] += a[left] * b[right];
    }
  });
}

void reduce(const reduction_attributes& a, inputs in, outputs out) {
  const input_values x = in[0];
  const output_values y = out[0];
  std::fill(y.numbers.begin(), y.numbers.end(), start_of(a.kind));
  for_each_index(x.shape, [&](tensor_index at) {
    const double number = x[at];
    for (std::size_t i = 0; i < x.shape.rank; ++i)
      if ((a.over >> i & 1) != 0) at[i] = 0;
    y[at] = combined(a.kind, y[at], number);
  });
  const double count = static_cast<double>(x.numbers.size()) / static_cast<double>(y.numbers.size());
  for (double& number : y.numbers) {
    if (a.kind == reduction_kind::mean) number /= count;
    if (a.kind == reduction_kind::norm2) number = std::sqrt(number);
  }
}

void compute_softmax(const softmax_attributes& a, inputs in, outputs out) {
  const input_values x = in[0];
  const output_values y = out[0];
  for_each_row(x.shape, a.over, [&](const std::vector<tensor_index>& row) {
    double largest = -infinite, sum = 0;
    for (const tensor_index& at : row) largest = epilogue::value_of(epilogue::op::maximum, largest, x[at]);
    for (const tensor_index& at : row) sum += std::exp(x[at] - largest);
    for (const tensor_index& at : row)
      y[at] = a.logarithmic ? x[at] - largest - std::log(sum) : std::exp(x[at] - largest) / sum;
  });
}

void find_softmax_gradient(const softmax_attributes& a, inputs in, outputs out) {
  const input_values dy = in[0], y = in[1];
  const output_values dx = out[0];
  for_each_row(y.shape, a.over, [&](const std::vector<tensor_index>& row) {
    double sum = 0;
    for (const tensor_index& at : row) sum += a.logarithmic ? dy[at] : dy[at] * y[at];
    for (const tensor_index& at : row) dx[at] = a.logarithmic ? dy[at] - std::exp(y[at]) * sum : y[at] * (dy[at] - sum);
  });
}

}  // namespace troupe::dnn::detail
