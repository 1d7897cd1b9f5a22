// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <troupe/dnn/graph/tensor_index.hpp>

/// Elements of tensors, as the reference computes them.
namespace troupe::dnn::detail {

/// A view of a tensor's elements, in row-major order.
template <class Number>
struct tensor_values {
  dtype type;
  tensor_shape shape;
  std::span<Number> numbers;

  /// Returns the element at an index. Indexes along axes of extent 1 are ignored, so that the tensor is broadcast.
  Number& operator[](const tensor_index& at) const noexcept {
    std::int64_t position = 0;
    for (std::size_t i = 0; i < shape.rank; ++i)
      position = position * shape.extents[i] + (shape.extents[i] == 1 ? 0 : at[i]);
    return numbers[static_cast<std::size_t>(position)];
  }
};
using input_values = tensor_values<const double>;
using output_values = tensor_values<double>;

using inputs = std::span<const input_values>;
using outputs = std::span<const output_values>;

}  // namespace troupe::dnn::detail
