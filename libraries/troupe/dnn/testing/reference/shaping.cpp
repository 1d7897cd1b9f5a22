// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>

namespace troupe::dnn::detail {

void reshape(const no_attributes&, inputs in, outputs out) {
  std::copy(in[0].numbers.begin(), in[0].numbers.end(), out[0].numbers.begin());
}

void transpose(const transposition_attributes& a, inputs in, outputs out) {
  const input_values x = in[0];
  const output_values y = out[0];
  for_each_index(y.shape, [&](const tensor_index& at) {
    tensor_index from{};
    for (std::size_t i = 0; i < y.shape.rank; ++i) from[static_cast<std::size_t>(a.from[i])] = at[i];
    y[at] = x[from];
  });
}

void concatenate(const concatenation_attributes& a, inputs in, outputs out) {
  const output_values y = out[0];
  const auto along = static_cast<std::size_t>(a.along);
  std::int64_t first = 0;
  for (const input_values& x : in) {
    for_each_index(x.shape, [&](const tensor_index& at) {
      tensor_index to = at;
      to[along] += first;
      y[to] = x[at];
    });
    first += x.shape.extents[along];
  }
}

void take_slice(const slice_attributes& a, inputs in, outputs out) {
  const input_values x = in[0];
  const output_values y = out[0];
  for_each_index(y.shape, [&](const tensor_index& at) {
    tensor_index from = at;
    for (std::size_t i = 0; i < y.shape.rank; ++i) from[i] = a.first[i] + from[i] * a.step[i];
    y[at] = x[from];
  });
}

}  // namespace troupe::dnn::detail
