// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/value.hpp>

/// Narrow elements with a scale for each block of neighbours along an index, as products take them (docs/matmul.md).
namespace troupe::dnn {

/// How elements are divided into blocks. The last block along an index may be shorter.
struct block_options {
  std::size_t along;               ///< the index
  std::int64_t block = 32;         ///< how many elements share a scale
  dtype elements = dtype::f8e4m3;  ///< f8e4m3, f8e5m2, or f4e2m1: one number in a byte
  dtype scales = dtype::f8e8m0;    ///< f8e8m0, f8e4m3 or f32
};

/// Elements, and a scale for each block: extents are those of x, and the number of blocks at the index.
struct block_scaled {
  value elements, scales;
};
/// Elements are x divided by the scale of their block, rounded to their type, and 0 where the scale is 0. The scale is
/// the largest magnitude of the block divided by the largest number that an element can be; as f8e8m0 rounded up to a
/// power of two, so that no element is cut off, and at least 2^-127; otherwise rounded to nearest.
block_scaled quantize_blocks(const value& x, const block_options& o);
/// Elements times the scales of their blocks.
value dequantize_blocks(const value& elements, const value& scales, std::size_t along, std::int64_t block = 32);

}  // namespace troupe::dnn
