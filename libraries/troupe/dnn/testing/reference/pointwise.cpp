// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/epilogue/op_definitions.hpp>

namespace troupe::dnn::detail {

void round_to_type(const no_attributes&, inputs in, outputs out) {
  const input_values x = in[0];
  const output_values y = out[0];
  for_each_index(y.shape, [&](const tensor_index& at) { y[at] = epilogue::nearest_of(y.type, x[at]); });
}

void compute_pointwise(const pointwise_attributes& a, inputs in, outputs out) {
  const output_values y = out[0];
  for_each_index(y.shape, [&](const tensor_index& at) {
    const double second = in.size() > 1 ? in[1][at] : 0, third = in.size() > 2 ? in[2][at] : 0;
    y[at] = epilogue::value_of(a.function, in[0][at], second, third);
  });
}

}  // namespace troupe::dnn::detail
