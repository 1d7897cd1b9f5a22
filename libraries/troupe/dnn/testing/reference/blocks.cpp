// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <limits>
#include <troupe/dnn/operations/blocks/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/epilogue/op_definitions.hpp>

namespace troupe::dnn::detail {
namespace {

tensor_index block_of(const block_attributes& a, tensor_index at) noexcept {
  at[static_cast<std::size_t>(a.along)] /= a.block;
  return at;
}

// Returns the smallest power of two that is at least x and in the range of f8e8m0.
double next_power_of_two(double x) noexcept {
  if (std::isnan(x)) return x;
  int exponent = -127;
  while (exponent < 127 && std::ldexp(1.0, exponent) < x) ++exponent;
  return std::ldexp(1.0, exponent);
}

}  // namespace

void quantize_blocks(const block_attributes& a, inputs in, outputs out) {
  const input_values x = in[0];
  const output_values elements = out[0], scales = out[1];
  for_each_index(x.shape, [&](const tensor_index& at) {
    double& largest = scales[block_of(a, at)];
    largest = epilogue::value_of(epilogue::op::maximum, largest, std::fabs(x[at]));
  });
  const double most = epilogue::nearest_of(a.elements, std::numeric_limits<double>::infinity());  // rounding saturates
  for (double& scale : scales.numbers)
    scale = a.scales == dtype::f8e8m0 ? next_power_of_two(scale / most) : epilogue::nearest_of(a.scales, scale / most);
  for_each_index(x.shape, [&](const tensor_index& at) {
    const double scale = scales[block_of(a, at)];
    elements[at] = scale == 0 ? 0 : epilogue::nearest_of(a.elements, x[at] / scale);
  });
}

void dequantize_blocks(const block_attributes& a, inputs in, outputs out) {
  const input_values elements = in[0], scales = in[1];
  const output_values y = out[0];
  for_each_index(y.shape, [&](const tensor_index& at) { y[at] = elements[at] * scales[block_of(a, at)]; });
}

}  // namespace troupe::dnn::detail
