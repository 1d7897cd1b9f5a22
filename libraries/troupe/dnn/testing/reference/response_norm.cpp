// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <troupe/dnn/operations/response_norm/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>

namespace troupe::dnn::detail {
namespace {

// Calls `f(index)` for each channel whose square is in the sum for the element at index `at`.
template <class F>
void for_each_channel(const local_response_norm_attributes& attributes, const tensor_shape& x, tensor_index at, F f) {
  const std::int64_t first = at[1] - (attributes.size - 1) / 2;
  for (std::int64_t c = first; c < first + attributes.size; ++c) {
    at[1] = c;
    if (c >= 0 && c < x.extents[1]) f(std::as_const(at));
  }
}

double divisor(const local_response_norm_attributes& a, input_values x, const tensor_index& at) {
  double sum = 0;
  for_each_channel(a, x.shape, at, [&](const tensor_index& c) { sum += x[c] * x[c]; });
  return a.k + a.alpha / static_cast<double>(a.size) * sum;
}

}  // namespace

void normalize_responses(const local_response_norm_attributes& a, inputs in, outputs out) {
  const input_values x = in[0];
  const output_values y = out[0];
  for_each_index(x.shape, [&](const tensor_index& at) { y[at] = x[at] * std::pow(divisor(a, x, at), -a.beta); });
}

void find_response_gradient(const local_response_norm_attributes& a, inputs in, outputs out) {
  const input_values dy = in[0], x = in[1];
  const output_values dx = out[0];
  for_each_index(x.shape, [&](const tensor_index& at) {
    const double d = divisor(a, x, at);
    dx[at] += dy[at] * std::pow(d, -a.beta);
    const double factor =
        -2 * a.alpha / static_cast<double>(a.size) * a.beta * dy[at] * x[at] * std::pow(d, -a.beta - 1);
    for_each_channel(a, x.shape, at, [&](const tensor_index& c) { dx[c] += factor * x[c]; });
  });
}

}  // namespace troupe::dnn::detail
