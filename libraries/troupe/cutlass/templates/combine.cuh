// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The second kernel of an epilogue with reductions: combines the partial results that the first kernel has written, in
// double and in a fixed order, and writes the results. Included after results.cuh. Launched with any number of blocks
// along x; the y index of a block is the number of its reduction.
#include <troupe/cutlass/templates/combining_share.hpp>

namespace troupe::cutlass::kernels::results {

constexpr int combining_threads = 256;
// Blocks that a multiprocessor runs at once; 0: the assembler decides. For sm_100 and newer GPUs it would choose 8, and
// spill registers.
#if __CUDA_ARCH__ >= 1000
constexpr int combining_blocks = 2;
#else
constexpr int combining_blocks = 0;
#endif

// One product of a batch, or one group of rows.
struct product {
  int batch, row_batch, first_row, rows, first_part;
};
// Calls f(product) for each product of a block's share.
template <class F>
__device__ __forceinline__ void for_each_product(const fixed_arguments& p, const combining_share& mine, const F& f) {
#ifdef TROUPE_GROUPS
  row_groups g{p, p.group_sizes};
  for (g.begin(); !g.over(); g.next())
    if (g.group % mine.step == mine.first)
      f(product{g.group, p.packed != 0 ? 0 : g.group, g.first_row, g.rows, g.first_part});
#else
  for (i64 batch = mine.first; batch < p.batch; batch += mine.step) {
    const int number = static_cast<int>(batch);
    f(product{number, number, 0, p.m, number * parts_of(p.m)});
  }
#endif
}

// Writes one result for each of `lines` rows, or columns; adjacent threads combine adjacent lines. `from` points to the
// first part of the first line; `between` is the stride from part to part.
__device__ __forceinline__ void combine_lines(const kernel_epilogue::all& p, const combining_share& mine, int r,
                                              int how, const number* from, int lines, int parts, i64 between, i64 to,
                                              i64 stride) {
  const int threads = mine.parts * combining_threads;
  for (i64 i = mine.part * combining_threads + static_cast<int>(threadIdx.x); i < lines; i += threads) {
    double x = start_of<double>(how);
    // Memory is slow, so many values are read at once.
#pragma unroll 8
    for (int j = 0; j < parts; ++j) x = combined(how, x, static_cast<double>(from[j * between + i]));
    kernel_epilogue::write_reduced(p, r, to + i * stride, x);
  }
}
// Writes one result for a product: one block combines its parts, each thread a fixed share.
__device__ __forceinline__ void combine_all(const kernel_epilogue::all& p, int r, int how, const number* from,
                                            i64 parts, i64 to) {
  __shared__ double per_warp[combining_threads / 32];
  double x = start_of<double>(how);
#pragma unroll 16
  for (i64 i = threadIdx.x; i < parts; i += combining_threads) x = combined(how, x, static_cast<double>(from[i]));
  x = combined_over(31, how, x);
  if (threadIdx.x % 32 == 0) per_warp[threadIdx.x / 32] = x;
  __syncthreads();
  if (threadIdx.x == 0) {
    for (int i = 1; i < combining_threads / 32; ++i) x = combined(how, x, per_warp[i]);
    kernel_epilogue::write_reduced(p, r, to, x);
  }
  __syncthreads();
}

}  // namespace troupe::cutlass::kernels::results

extern "C" __global__ void __launch_bounds__(troupe::cutlass::kernels::results::combining_threads,
                                             troupe::cutlass::kernels::results::combining_blocks)
    troupe_cutlass_combine(const __grid_constant__ troupe::cutlass::kernels::kernel_epilogue::all p) {
  using namespace troupe::cutlass::kernels;
#if __CUDA_ARCH__ >= 900
  // This kernel may begin before the first kernel has ended.
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  const int columns = results::column_parts(p);
  const combining_share mine = share_of(static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x), p.batch);
#pragma unroll
  for (int r = 0; r < kernel_epilogue::reductions; ++r) {
    if (static_cast<int>(blockIdx.y) != r) continue;
    const matrix& to = p.memory[kernel_epilogue::to[r]];
    const results::number* const all = results::partial(p, r);
    results::for_each_product(p, mine, [&](const results::product& of) {
      const i64 at = of.batch * to.batch, parts = parts_of(of.rows);
      if (kernel_epilogue::over[r] == scope_row) {
        const i64 from = static_cast<i64>(of.row_batch) * columns * p.m + of.first_row;
        results::combine_lines(p, mine, r, kernel_epilogue::how[r], all + from, of.rows, columns, p.m,
                               of.row_batch * to.batch + of.first_row * to.row, to.row);
      } else if (kernel_epilogue::over[r] == scope_column) {
        results::combine_lines(p, mine, r, kernel_epilogue::how[r], all + static_cast<i64>(of.first_part) * p.n, p.n,
                               static_cast<int>(parts), p.n, at, to.column);
      } else if (mine.part == 0) {
        results::combine_all(p, r, kernel_epilogue::how[r], all + static_cast<i64>(of.first_part) * columns,
                             parts * columns, at);
      }
    });
  }
}
