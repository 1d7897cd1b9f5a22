// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::dnn {

/// The attributes of a transposition: the order of axes.
struct transposition_attributes {
  std::int64_t from[8];  ///< axis i of the result is axis from[i] of the tensor
};
/// The attributes of a concatenation: the axis along which tensors are concatenated.
struct concatenation_attributes {
  std::int64_t along;
};
/// The attributes of a slice: the index of its first element along each axis, and the distance to the next one.
struct slice_attributes {
  std::int64_t first[8], step[8];
};

}  // namespace troupe::dnn
