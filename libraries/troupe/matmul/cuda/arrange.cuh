// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/cuda/numbers.cuh>

#include "kernel_arguments.hpp"

/// Kernels that copy operands into the layout that tensor cores need.
namespace troupe::matmul::on_gpu {

using kernel_arguments::arrange_arguments, kernel_arguments::scale_arguments;
using i64 = std::int64_t;

/// Copies tiles of 32 x 32 elements with blocks of 32 x 8 threads, so that reads and writes are both coalesced.
/// `load(matrix, line, element)` returns the element to store; `matrix` is the index in the batch.
template <class Out, class Load>
__device__ void arrange_by(const arrange_arguments& a, const Load& load) {
  constexpr unsigned width = 32, height = 8;
  __shared__ Out tile[width][width + 1];
  const i64 first = static_cast<i64>(blockIdx.x) * width;
  for (i64 b = blockIdx.z; b < a.batch; b += gridDim.z)
    for (i64 l = static_cast<i64>(blockIdx.y) * width; l < a.lines; l += static_cast<i64>(gridDim.y) * width) {
      Out* const to = static_cast<Out*>(a.to) + b * a.lines * a.padded;
      const bool in_order = a.element_stride == 1;
      for (unsigned i = threadIdx.y; i < width; i += height) {
        // Neighboring threads read neighboring elements: of one line, or of several lines at the same index.
        const unsigned e = in_order ? threadIdx.x : i, line = in_order ? i : threadIdx.x;
        const bool exists = first + e < a.length && l + line < a.lines;
        tile[line][e] = exists ? load(b, l + line, first + e) : static_cast<Out>(0);
      }
      __syncthreads();
      for (unsigned i = threadIdx.y; i < width; i += height)
        if (first + threadIdx.x < a.padded && l + i < a.lines)
          to[(l + i) * a.padded + first + threadIdx.x] = tile[i][threadIdx.x];
      __syncthreads();
    }
}

template <class In, class Out>
__device__ void arrange(const arrange_arguments& a) {
  arrange_by<Out>(a, [&](i64 b, i64 line, i64 e) {
    return static_cast<Out>(
        static_cast<const In*>(a.from)[b * a.from_stride + line * a.line_stride + e * a.element_stride]);
  });
}

/// Copies numbers times their scales. `Out` holds the products exactly, or is float and the products are rounded.
template <class Out>
__device__ void scale(const scale_arguments& s) {
  using number = epilogue::on_gpu::number<float>;
  const arrange_arguments& a = s.what;
  const bool pairs = static_cast<dtype>(s.type) == dtype::f4e2m1x2;
  arrange_by<Out>(a, [&](i64 b, i64 line, i64 e) {
    const i64 at = b * a.from_stride + line * a.line_stride + (pairs ? e / 2 : e) * a.element_stride,
              scale_at = b * s.batch_stride + line / s.block_lines * s.line_stride + e / s.block_k * s.k_stride;
    float x;
    if (pairs) {
      const unsigned code = static_cast<const std::uint8_t*>(a.from)[at] >> (e % 2 * 4);
      x = static_cast<float>(float4_e2m1::from_bits(static_cast<std::uint8_t>(code)));
    } else {
      x = number::load(static_cast<dtype>(s.type), a.from, at);
    }
    return static_cast<Out>(x * number::load(static_cast<dtype>(s.scale_type), s.scales, scale_at));
  });
}

}  // namespace troupe::matmul::on_gpu
