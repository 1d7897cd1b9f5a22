// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The second kernel of an epilogue with reductions: combines the parts that the first one has written, in double and
// in a fixed order, and writes the results. Included after results.cuh. Launched with any number of blocks; the second
// index of a block says which reduction it is for.
namespace troupe::cutlass::kernels::results {

constexpr int combining_threads = 256;

// One result for each row, or each column: neighbours are combined by neighbouring threads.
__device__ __forceinline__ void combine_lines(const tail::all& p, int r, int how, int lines, int parts, i64 distance) {
  const number* const from = partial(p, r);
  const place& to = p.memory[tail::to[r]];
  const i64 all = static_cast<i64>(p.batch) * lines, threads = static_cast<i64>(gridDim.x) * combining_threads;
  for (i64 i = static_cast<i64>(blockIdx.x) * combining_threads + threadIdx.x; i < all; i += threads) {
    const i64 batch = i / lines, line = i - batch * lines;
    const number* const first = from + batch * parts * lines + line;
    double x = start_of<double>(how);
    for (int j = 0; j < parts; ++j) x = combined(how, x, static_cast<double>(first[static_cast<i64>(j) * lines]));
    tail::write_reduced(p, r, batch * to.batch + line * distance, x);
  }
}
// One result for each product: a block combines its parts, each warp a fixed share.
__device__ __forceinline__ void combine_all(const tail::all& p, int r, int how, i64 parts) {
  __shared__ double of_warp[combining_threads / 32];
  for (int batch = static_cast<int>(blockIdx.x); batch < p.batch; batch += static_cast<int>(gridDim.x)) {
    const number* const from = partial(p, r) + batch * parts;
    double x = start_of<double>(how);
    for (i64 i = threadIdx.x; i < parts; i += combining_threads) x = combined(how, x, static_cast<double>(from[i]));
    x = combined_over(31, how, x);
    if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = x;
    __syncthreads();
    if (threadIdx.x == 0) {
      for (int i = 1; i < combining_threads / 32; ++i) x = combined(how, x, of_warp[i]);
      tail::write_reduced(p, r, batch * p.memory[tail::to[r]].batch, x);
    }
    __syncthreads();
  }
}

}  // namespace troupe::cutlass::kernels::results

extern "C" __global__ void __launch_bounds__(troupe::cutlass::kernels::results::combining_threads)
    troupe_combine(const __grid_constant__ troupe::cutlass::kernels::tail::all p) {
  using namespace troupe::cutlass::kernels;
#pragma unroll
  for (int r = 0; r < tail::reductions; ++r) {
    if (static_cast<int>(blockIdx.y) != r) continue;
    const place& to = p.memory[tail::to[r]];
    if (tail::over[r] == of_rows)
      results::combine_lines(p, r, tail::how[r], p.m, results::column_parts(p), to.row);
    else if (tail::over[r] == of_columns)
      results::combine_lines(p, r, tail::how[r], p.n, results::row_parts(p), to.column);
    else
      results::combine_all(p, r, tail::how[r], static_cast<i64>(results::row_parts(p)) * results::column_parts(p));
  }
}
