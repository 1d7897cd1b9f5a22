// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "elements.cuh"

/// Products of matrices, computed in tiles from shared memory.
namespace troupe::dnn::on_gpu {

/// Offsets of a product's matrices in the tensors of a batch.
struct product_offsets {
  i64 a = 0, b = 0, c = 0;
};
__device__ inline product_offsets offsets_of(const kernel_arguments::batch_strides& all, i64 n) {
  product_offsets out;
  for (i64 i = all.rank; i-- > 0; n /= all.extents[i]) {
    const i64 at = n % all.extents[i];
    out.a += at * all.a[i], out.b += at * all.b[i], out.c += at * all.c[i];
  }
  return out;
}

/// Computes tiles of Rows x Columns elements. A block computes one tile after another. A thread's rows, and its
/// columns, are 16 apart.
template <class N, int Rows, int Columns>
__device__ void multiply_tiles(const kernel_arguments::product_arguments& r) {
  using kernel_arguments::product_threads;
  constexpr int depth = 16, across = 16, of_rows = Rows / across, of_columns = Columns / across;
  static_assert(product_threads == across * across);
  // The extra column puts elements that threads write to different lines into different banks of shared memory.
  __shared__ N left[depth][Rows + 1], right[depth][Columns + 1];
  const auto thread = static_cast<int>(threadIdx.x);
  const int row = thread / across, column = thread % across;
  const i64 down = (r.m + Rows - 1) / Rows, along = (r.n + Columns - 1) / Columns;
  const bool left_by_rows = r.a_column == 1, right_by_rows = r.b_column == 1;
  for (i64 tile = blockIdx.x; tile < r.batch.count * down * along; tile += gridDim.x) {
    const product_offsets at = offsets_of(r.batch, tile / (down * along));
    const i64 first_row = tile / along % down * Rows, first_column = tile % along * Columns;
    const N *const a = static_cast<const N*>(r.a) + at.a, *const b = static_cast<const N*>(r.b) + at.b;
    N sums[of_rows][of_columns] = {};
    for (i64 first = 0; first < r.k; first += depth) {
      // Neighboring threads read neighbors in memory.
      for (int i = thread; i < Rows * depth; i += product_threads) {
        const int y = left_by_rows ? i / depth : i % Rows, k = left_by_rows ? i % depth : i / Rows;
        const bool is_there = first_row + y < r.m && first + k < r.k;
        left[k][y] = is_there ? a[(first_row + y) * r.a_row + (first + k) * r.a_column] : N(0);
      }
      for (int i = thread; i < Columns * depth; i += product_threads) {
        const int x = right_by_rows ? i % Columns : i / depth, k = right_by_rows ? i / Columns : i % depth;
        const bool is_there = first_column + x < r.n && first + k < r.k;
        right[k][x] = is_there ? b[(first + k) * r.b_row + (first_column + x) * r.b_column] : N(0);
      }
      __syncthreads();
      for (int k = 0; k < depth; ++k)
        for (int i = 0; i < of_rows; ++i)
          for (int j = 0; j < of_columns; ++j)
            sums[i][j] = multiply_add(left[k][row + i * across], right[k][column + j * across], sums[i][j]);
      __syncthreads();
    }
    for (int i = 0; i < of_rows; ++i)
      for (int j = 0; j < of_columns; ++j) {
        const i64 y = first_row + row + i * across, x = first_column + column + j * across;
        if (y >= r.m || x >= r.n) continue;
        N* const to = static_cast<N*>(r.c) + at.c + y * r.c_row + x;
        *to = r.adds != 0 ? *to + sums[i][j] : sums[i][j];
      }
  }
}

KERNEL(multiply_f32, kernel_arguments::product_arguments, multiply_tiles<float, 64, 64>)
KERNEL(multiply_f64, kernel_arguments::product_arguments, multiply_tiles<double, 64, 64>)
KERNEL(multiply_small_tiles_f32, kernel_arguments::product_arguments, multiply_tiles<float, 16, 32>)
KERNEL(multiply_small_tiles_f64, kernel_arguments::product_arguments, multiply_tiles<double, 16, 32>)

}  // namespace troupe::dnn::on_gpu
