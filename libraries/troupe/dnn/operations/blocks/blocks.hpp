// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/value.hpp>

/// Narrow elements with a scale for each block of neighbors along an axis, as matmul accepts them (docs/matmul.md).
namespace troupe::dnn {

/// How a tensor is divided into blocks, and the types of elements and scales. The last block along the axis may be
/// shorter.
struct block_options {
  std::size_t along;               ///< the axis along which blocks are divided
  std::int64_t block = 32;         ///< number of elements that share a scale
  dtype elements = dtype::f8e4m3;  ///< f8e4m3, f8e5m2, or f4e2m1, with one element in each byte
  dtype scales = dtype::f8e8m0;    ///< f8e8m0, f8e4m3 or f32
};

/// Elements, and a scale for each block. The scales have the extents of x, but along the axis the number of blocks.
struct block_scaled {
  value elements, scales;
};
/// Quantizes x in blocks. An element is x divided by the scale of its block, rounded to the type of elements; it is 0
/// if the scale is 0. The scale is the largest magnitude in the block divided by the largest number of that type. A
/// scale of type f8e8m0 is rounded up to a power of two, at least 2^-127, so that no element is clamped; scales of
/// other types are rounded to nearest.
block_scaled quantize_blocks(const value& x, const block_options& o);
/// Returns the elements multiplied by the scales of their blocks.
value dequantize_blocks(const value& elements, const value& scales, std::size_t along, std::int64_t block = 32);

}  // namespace troupe::dnn
