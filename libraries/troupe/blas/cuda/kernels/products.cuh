// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "arithmetic.cuh"

/// Products of matrices with elements of any type.
namespace troupe::blas::on_gpu {

constexpr int depth = 16;
// Each element is one chain of fused multiply-adds in the order of k, whatever else runs, so a product has the same
// bits alone and together with others.
template <class T, class C, class S>
__device__ void multiply(const products& all) {
  __shared__ product p;
  alignas(16) __shared__ unsigned char room_a[depth * (tile + 1) * sizeof(S)], room_b[depth * (tile + 1) * sizeof(S)];
  auto* const panel_a = reinterpret_cast<S(*)[tile + 1]>(room_a);
  auto* const panel_b = reinterpret_cast<S(*)[tile + 1]>(room_b);
  const int self = threadIdx.x;
  {
    constexpr int words = sizeof(product) / 4;
    static_assert(sizeof(product) % 4 == 0 && words <= 256);
    const auto* const from =
        reinterpret_cast<const std::uint32_t*>(all.all != nullptr ? all.all + blockIdx.x : &all.one);
    if (self < words) reinterpret_cast<std::uint32_t*>(&p)[self] = from[self];
    __syncthreads();
  }
  const S alpha = load<S>(p.alpha), beta = load<S>(p.beta);
  const T* const a = static_cast<const T*>(p.a);
  const T* const b = static_cast<const T*>(p.b);
  C* const c = static_cast<C*>(p.c);
  const i64 down = (p.m + tile - 1) / tile, across = (p.n + tile - 1) / tile, k = is(alpha, 0) ? 0 : p.k;
  const bool straight_a = p.op_a == 0 || p.op_a == conjugate_op, straight_b = p.op_b == 0 || p.op_b == conjugate_op;
  const int x = self % 16, y = self / 16;
  for (i64 t = blockIdx.y; t < down * across; t += gridDim.y) {
    const i64 row = t % down * tile, column = t / down * tile;
    S sums[2][2] = {};
    for (i64 l0 = 0; l0 < k; l0 += depth) {
      for (int e = self; e < tile * depth; e += 256) {
        // Adjacent threads load adjacent elements, whether a row or a column is contiguous.
        const int i = straight_a ? e % tile : e / depth, la = straight_a ? e / tile : e % depth;
        const bool in_a = row + i < p.m && l0 + la < p.k;
        S va{};
        if (in_a) va = widened<S>(straight_a ? a[row + i + (l0 + la) * p.lda] : a[l0 + la + (row + i) * p.lda]);
        panel_a[la][i] = p.op_a >= 2 ? conjugate(va) : va;
        const int j = straight_b ? e / depth : e % tile, lb = straight_b ? e % depth : e / tile;
        const bool in_b = column + j < p.n && l0 + lb < p.k;
        S vb{};
        if (in_b) vb = widened<S>(straight_b ? b[l0 + lb + (column + j) * p.ldb] : b[column + j + (l0 + lb) * p.ldb]);
        panel_b[lb][j] = p.op_b >= 2 ? conjugate(vb) : vb;
      }
      __syncthreads();
      const int most = k - l0 < depth ? static_cast<int>(k - l0) : depth;
      for (int l = 0; l < most; ++l)
        for (int u = 0; u < 2; ++u)
          for (int v = 0; v < 2; ++v) sums[u][v] = fused(panel_a[l][x + 16 * u], panel_b[l][y + 16 * v], sums[u][v]);
      __syncthreads();
    }
    for (int v = 0; v < 2; ++v)
      for (int u = 0; u < 2; ++u) {
        const i64 i = row + x + 16 * u, j = column + y + 16 * v;
        if (i >= p.m || j >= p.n) continue;
        C& place = c[i + j * p.ldc];
        S value = k == 0 ? S{} : times(alpha, sums[u][v]);
        if (!is(beta, 0)) {
          const S before = times(beta, widened<S>(place));
          value = k == 0 ? before : plus(value, before);
        }
        place = narrowed<C>(value);
      }
  }
}

}  // namespace troupe::blas::on_gpu
