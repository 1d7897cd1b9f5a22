// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/packing_numbers.hpp>
#include <troupe/epilogue/cuda/numbers.cuh>

#include "kernel_pack_arguments.hpp"

/// Packs weights as factors of products.
namespace troupe::cutlass::on_gpu {

using kernel_arguments::packed_lines, kernel_arguments::packing;
using i64 = std::int64_t;
using number = epilogue::on_gpu::number<float>;

constexpr unsigned tile_width = 32, tile_height = 8;  // threads; a tile has 32 lines of 32 terms

/// Calls `each(line of the tile, term of the tile, value)` for the existing terms of [first, first + 32) in the
/// existing lines of [line, line + 32). Adjacent threads read adjacent elements: of one line, or of one term in several
/// lines.
template <class F>
__device__ void for_tile(const packing& p, i64 batch, i64 line, i64 first, i64 end, F&& each) {
  const bool in_order = p.from.term == 1;
  for (unsigned i = threadIdx.y; i < tile_width; i += tile_height) {
    const unsigned l = in_order ? i : threadIdx.x, t = in_order ? threadIdx.x : i;
    if (line + l >= p.lines || first + t >= end) continue;
    const i64 at = batch * p.from.batch + (line + l) * p.from.line + (first + t) * p.from.term;
    each(l, t, number::load(static_cast<dtype>(p.from.type), p.from.address, at));
  }
}

/// Computes and stores the scales of the terms [begin, end) in 32 lines, and returns them in `scale`.
template <class T>
__device__ void find_scales(const packing& p, i64 batch, i64 line, i64 begin, i64 end, float (&scale)[tile_width]) {
  // The largest magnitude of each line that each of the threads reading the line has seen.
  __shared__ float largest[tile_width][tile_width + 1];
  const bool in_order = p.from.term == 1;
  for (unsigned i = threadIdx.y; i < tile_width; i += tile_height) largest[i][threadIdx.x] = 0;
  __syncthreads();
  for (i64 t = begin; t < end; t += tile_width)
    for_tile(p, batch, line, t, end, [&](unsigned l, unsigned, float x) {
      float& most = largest[l][in_order ? threadIdx.x : threadIdx.y];
      most = packing_numbers::larger_magnitude(most, x);
    });
  __syncthreads();
  if (threadIdx.y == 0) {
    float most = 0;
    for (unsigned i = 0; i < tile_width; ++i) most = packing_numbers::larger_magnitude(most, largest[threadIdx.x][i]);
    float s = packing_numbers::scale_of<T>(most);
    if (line + threadIdx.x < p.lines) {
      const auto type = static_cast<dtype>(p.scales.type);
      const i64 at = batch * p.scales.batch + (line + threadIdx.x) * p.scales.line + begin / p.block * p.scales.term;
      number::store(type, p.scales.address, at, s);
      s = number::load(type, p.scales.address, at);
    }
    scale[threadIdx.x] = s;
  }
  __syncthreads();
}

/// Calls f(matrix, first line, first term, end of terms) for the blocks of terms of this thread block's 32 lines. A
/// thread block has 32 x 8 threads; the grid has the axes lines, blocks of terms, matrices.
template <class F>
__device__ void for_each_block(const packing& p, F&& f) {
  for (i64 b = blockIdx.z; b < p.batch; b += gridDim.z)
    for (i64 begin = static_cast<i64>(blockIdx.y) * p.block; begin < p.terms;
         begin += static_cast<i64>(gridDim.y) * p.block) {
      const i64 end = begin + p.block < p.terms ? begin + p.block : p.terms;
      f(b, static_cast<i64>(blockIdx.x) * tile_width, begin, end);
    }
}

/// Calls `store(line of the tile, index in packed, values of the element's terms)` for each packed element of a block;
/// an element holds `Terms` terms. Adjacent threads store adjacent elements of a line.
template <unsigned Terms, class F>
__device__ void store_elements(const packing& p, i64 batch, i64 line, i64 begin, i64 end, F&& store) {
  __shared__ float tile[tile_width][tile_width + 1];
  for (i64 t = begin; t < end; t += tile_width) {
    for_tile(p, batch, line, t, end, [&](unsigned l, unsigned at, float x) { tile[l][at] = x; });
    __syncthreads();
    const unsigned term = threadIdx.x * Terms;
    for (unsigned l = threadIdx.y; l < tile_width; l += tile_height)
      if (term < tile_width && t + term < end && line + l < p.lines)
        store(l, batch * p.packed.batch + (line + l) * p.packed.line + (t + term) / Terms * p.packed.term,
              &tile[l][term]);
    __syncthreads();
  }
}

/// Stores elements of type T, divided by the scales of their blocks.
template <class T>
__device__ void pack_scaled(const packing& p) {
  __shared__ float scale[tile_width];
  for_each_block(p, [&](i64 batch, i64 line, i64 begin, i64 end) {
    find_scales<T>(p, batch, line, begin, end, scale);
    if constexpr (std::is_same_v<T, float4_e2m1>)
      store_elements<2>(p, batch, line, begin, end, [&](unsigned l, i64 at, const float* x) {
        static_cast<float4_e2m1x2*>(p.packed.address)[at] =
            float4_e2m1x2(packing_numbers::quantized<T>(x[0], scale[l]), packing_numbers::quantized<T>(x[1], scale[l]));
      });
    else
      store_elements<1>(p, batch, line, begin, end, [&](unsigned l, i64 at, const float* x) {
        static_cast<T*>(p.packed.address)[at] = packing_numbers::quantized<T>(x[0], scale[l]);
      });
  });
}

/// Stores elements without scales, rounded to the type.
inline __device__ void pack_rounded(const packing& p) {
  for_each_block(p, [&](i64 batch, i64 line, i64 begin, i64 end) {
    store_elements<1>(p, batch, line, begin, end, [&](unsigned, i64 at, const float* x) {
      number::store(static_cast<dtype>(p.packed.type), p.packed.address, at, x[0]);
    });
  });
}

}  // namespace troupe::cutlass::on_gpu
