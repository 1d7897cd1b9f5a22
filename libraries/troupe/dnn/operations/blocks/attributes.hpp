// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/dtype.hpp>

namespace troupe::dnn {

/// The attributes of a quantization in blocks along an axis, and of its inverse. Outputs of a quantization, inputs of
/// the inverse: the elements, and a scale for each block.
struct block_attributes {
  std::int64_t along, block;
  dtype elements, scales;
  std::uint8_t unused[6];
};

}  // namespace troupe::dnn
