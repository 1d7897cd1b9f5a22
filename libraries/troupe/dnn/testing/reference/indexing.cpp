// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <troupe/dnn/operations/indexing/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>

namespace troupe::dnn::detail {

void count_along(const iota_attributes& a, inputs, outputs out) {
  const output_values y = out[0];
  for_each_index(y.shape,
                 [&](const tensor_index& at) { y[at] = static_cast<double>(at[static_cast<std::size_t>(a.along)]); });
}

namespace {

// Calls `f(part, whole)` with the index of each element among the parts and in the tensor from which it is gathered;
// `whole` is null if there is none.
template <class F>
void for_each_part(std::size_t axis, const tensor_shape& whole, const tensor_shape& parts, const input_values& indexes,
                   F f) {
  const std::size_t rank = indexes.shape.rank;
  for_each_index(parts, [&](const tensor_index& part) {
    tensor_index of_index{}, in_whole{};
    for (std::size_t i = 0; i < rank; ++i) of_index[i] = part[axis + i];
    for (std::size_t i = 0; i < whole.rank; ++i) in_whole[i] = i < axis ? part[i] : i > axis ? part[i - 1 + rank] : 0;
    const double index = indexes[of_index];
    const bool exists = index >= 0 && index < static_cast<double>(whole.extents[axis]);
    if (exists) in_whole[axis] = static_cast<std::int64_t>(index);
    f(part, exists ? &in_whole : nullptr);
  });
}

}  // namespace

void gather(const gather_attributes& a, inputs in, outputs out) {
  const output_values y = out[0];
  for_each_part(static_cast<std::size_t>(a.axis), in[0].shape, y.shape, in[1],
                [&](const tensor_index& part, const tensor_index* whole) {
                  y[part] = whole != nullptr ? in[0][*whole] : std::numeric_limits<double>::quiet_NaN();
                });
}

void scatter(const gather_attributes& a, inputs in, outputs out) {
  const output_values y = out[0];
  for_each_part(static_cast<std::size_t>(a.axis), y.shape, in[0].shape, in[1],
                [&](const tensor_index& part, const tensor_index* whole) {
                  if (whole != nullptr) y[*whole] += in[0][part];
                });
}

}  // namespace troupe::dnn::detail
