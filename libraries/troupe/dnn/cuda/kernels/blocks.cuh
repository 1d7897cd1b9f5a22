// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/blocks/block_scaling.hpp>

#include "elements.cuh"
#include "kernel_image_arguments.hpp"

namespace troupe::dnn::on_gpu {

/// Quantizes blocks. A thread computes all elements of a block.
template <class N>
__device__ void quantize_blocks(const kernel_arguments::block_scaling_arguments& r) {
  const narrow_type t = narrow_type_of(static_cast<dtype>(r.elements));
  const i64 blocks = (r.length - 1) / r.block + 1;
  for (i64 n = first_of_thread(); n < r.rows * blocks * r.width; n += all_threads()) {
    const i64 first = n / r.width % blocks * r.block,
              begin = (n / r.width / blocks * r.length + first) * r.width + n % r.width;
    const i64 count = first + r.block < r.length ? r.block : r.length - first;
    const N* const from = static_cast<const N*>(r.from) + begin;
    N* const to = static_cast<N*>(r.to) + begin;
    N largest = 0;
    for (i64 i = 0; i < count; ++i) {
      const N magnitude = fabs(from[i * r.width]);
      if (magnitude > largest || magnitude != magnitude) largest = magnitude;
    }
    const double scale = scale_of_block(static_cast<double>(largest), t, static_cast<dtype>(r.scales));
    static_cast<N*>(r.by)[n] = static_cast<N>(scale);
    for (i64 i = 0; i < count; ++i)
      to[i * r.width] = static_cast<N>(scaled_element(static_cast<double>(from[i * r.width]), scale, t));
  }
}

/// Dequantizes blocks. A thread computes one element.
template <class N>
__device__ void dequantize_blocks(const kernel_arguments::block_scaling_arguments& r) {
  const i64 blocks = (r.length - 1) / r.block + 1;
  for (i64 n = first_of_thread(); n < r.rows * r.length * r.width; n += all_threads()) {
    const i64 along = n / r.width % r.length, row = n / r.width / r.length;
    const N scale = static_cast<const N*>(r.by)[(row * blocks + along / r.block) * r.width + n % r.width];
    static_cast<N*>(r.to)[n] = static_cast<const N*>(r.from)[n] * scale;
  }
}

KERNELS(quantize_blocks, block_scaling_arguments, quantize_blocks)
KERNELS(dequantize_blocks, block_scaling_arguments, dequantize_blocks)

}  // namespace troupe::dnn::on_gpu
