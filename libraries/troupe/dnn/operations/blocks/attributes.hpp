// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/dtype.hpp>
#include <troupe/dnn/graph/attributes.hpp>

namespace troupe::dnn {

/// The attributes of a quantization in blocks along an axis, and of a dequantization. The outputs of the former, and
/// the inputs of the latter, are the elements, and a scale for each block.
struct block_attributes {
  std::int64_t along, block;
  dtype elements, scales;
  std::uint8_t unused[6];
};

constexpr bool is_sound(op, const block_attributes& a, const node_counts&) noexcept { return a.block > 0; }

}  // namespace troupe::dnn
