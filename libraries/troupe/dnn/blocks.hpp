// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/value.hpp>

/// Narrow elements with a scale for each block of neighbours along an axis, as products take them (docs/matmul.md).
namespace troupe::dnn {

/// The division of elements into blocks. The last block along an axis may be shorter.
struct block_options {
  std::size_t along;               ///< the axis
  std::int64_t block = 32;         ///< number of elements that share a scale
  dtype elements = dtype::f8e4m3;  ///< f8e4m3, f8e5m2, or f4e2m1: one number in a byte
  dtype scales = dtype::f8e8m0;    ///< f8e8m0, f8e4m3 or f32
};

/// Elements, and a scale for each block. The scales have the extents of x, but the number of blocks along the axis.
struct block_scaled {
  value elements, scales;
};
/// Divides x by the scales of its blocks. Elements are x divided by the scale of their block, rounded to their type,
/// and 0 where the scale is 0. The scale is the largest magnitude of the block divided by the largest number that an
/// element can be; as f8e8m0 rounded up to a power of two, so that no element is clamped, and at least 2^-127;
/// otherwise rounded to nearest.
block_scaled quantize_blocks(const value& x, const block_options& o);
/// Returns the elements times the scales of their blocks.
value dequantize_blocks(const value& elements, const value& scales, std::size_t along, std::int64_t block = 32);

}  // namespace troupe::dnn
