// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/cuda/epilogue_pass.cuh>

#include "kernel_arguments.hpp"

/// The kernel that computes any number of small products with their epilogues in one launch: a call of cuBLASLt costs
/// as much time as such a product.
namespace troupe::matmul::on_gpu {

using kernel_arguments::small_products;
using i64 = std::int64_t;

inline __device__ float fused(float x, float y, float z) { return fmaf(x, y, z); }
inline __device__ double fused(double x, double y, double z) { return fma(x, y, z); }
template <class T>
__device__ basic_complex<T> fused(basic_complex<T> x, basic_complex<T> y, basic_complex<T> z) {
  return {fused(x.real, y.real, fused(-x.imag, y.imag, z.real)), fused(x.real, y.imag, fused(x.imag, y.real, z.imag))};
}

inline constexpr int tile = 32, columns_per_thread = 4;

/// The elements of one thread: four in a row of a tile, 8 columns apart.
template <class N>
class tile_part {
 public:
  __device__ tile_part(const small_products& all, const std::uint64_t* addresses, i64 row, i64 column, const N* sums)
      : all_(all), addresses_(addresses), row_(row), column_(column), sums_(sums) {}
  __device__ bool exists(int i) const { return row_ < all_.epilogue.rows && column(i) < all_.epilogue.columns; }
  __device__ i64 index(const epilogue::kernel_arguments::strided_matrix& p, int i) const {
    return row_ * p.row_stride + column(i) * p.column_stride;
  }
  __device__ void* memory(unsigned operand) const {
    return reinterpret_cast<void*>(addresses_ != nullptr ? addresses_[3 + operand]
                                                         : all_.epilogue.memory[operand].address);
  }
  __device__ void* result() const {
    return reinterpret_cast<void*>(addresses_ != nullptr ? addresses_[2] : all_.epilogue.result.address);
  }
  __device__ void product(bool, N* to) const {
    for (int i = 0; i < columns_per_thread; ++i) to[i] = sums_[i];
  }
  // Small products have no reductions.
  __device__ void reduce(const epilogue::kernel_arguments::step&, const N*) const {}

 private:
  __device__ i64 column(int i) const { return column_ + i * 8; }
  const small_products& all_;
  const std::uint64_t* const addresses_;
  const i64 row_, column_;
  const N* const sums_;
};

/// Computes each element as one chain of fused multiply-adds in the order of k, so that a product has the same bits
/// alone and with others.
template <class N>
__device__ void multiply_small(const small_products& all) {
  using number = epilogue::on_gpu::number<N>;
  __shared__ N panel_a[tile][tile + 1], panel_b[tile][tile + 1];  // indexed by k and line
  const std::uint64_t* const addresses =
      all.addresses != nullptr ? all.addresses + blockIdx.x * (3 + all.operands) : nullptr;
  const void* const a = reinterpret_cast<const void*>(addresses != nullptr ? addresses[0] : all.a.address);
  const void* const b = reinterpret_cast<const void*>(addresses != nullptr ? addresses[1] : all.b.address);
  const dtype type_a = static_cast<dtype>(all.a.type), type_b = static_cast<dtype>(all.b.type);
  const i64 tiles_down = (all.epilogue.rows + tile - 1) / tile;
  const i64 row = blockIdx.y % tiles_down * tile, column = blockIdx.y / tiles_down * tile;
  const int x = threadIdx.x, y = threadIdx.y;
  N sums[columns_per_thread] = {};
  for (i64 first = 0; first < all.k; first += tile) {
    for (int i = y; i < tile; i += 8) {
      // Neighboring threads read neighboring elements.
      const int line_a = all.a.line_stride == 1 ? x : i, k_a = all.a.line_stride == 1 ? i : x;
      const bool in_a = row + line_a < all.epilogue.rows && first + k_a < all.k;
      panel_a[k_a][line_a] =
          in_a ? number::load(type_a, a, (row + line_a) * all.a.line_stride + (first + k_a) * all.a.k_stride) : N(0);
      const int line_b = all.b.line_stride == 1 ? x : i, k_b = all.b.line_stride == 1 ? i : x;
      const bool in_b = column + line_b < all.epilogue.columns && first + k_b < all.k;
      panel_b[k_b][line_b] =
          in_b ? number::load(type_b, b, (column + line_b) * all.b.line_stride + (first + k_b) * all.b.k_stride) : N(0);
    }
    __syncthreads();
    const int most = all.k - first < tile ? static_cast<int>(all.k - first) : tile;
    for (int l = 0; l < most; ++l)
      for (int i = 0; i < columns_per_thread; ++i) sums[i] = fused(panel_a[l][x], panel_b[l][y + 8 * i], sums[i]);
    __syncthreads();
  }
  epilogue::on_gpu::interpret<N, epilogue::kernel_arguments::ordinary_slots, columns_per_thread>(
      all.epilogue, tile_part<N>(all, addresses, row + x, column + y, sums));
}

}  // namespace troupe::matmul::on_gpu
