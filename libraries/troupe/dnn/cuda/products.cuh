// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "sets.cuh"

/// Products of matrices, whose tiles are loaded into shared memory.
namespace troupe::dnn::on_gpu {

/// Computes tiles of rows x columns, one after another per block; each thread computes elements that are 16 apart.
template <class N, int Rows, int Columns>
__device__ void multiply_tiles(const kernel_arguments::multiplying& r) {
  using kernel_arguments::product_threads;
  constexpr int depth = 16, across = 16, of_rows = Rows / across, of_columns = Columns / across;
  static_assert(product_threads == across * across);
  // One more column than is used, so that threads that write lines of different numbers use different banks.
  __shared__ N left[depth][Rows + 1], right[depth][Columns + 1];
  const auto thread = static_cast<int>(threadIdx.x);
  const int row = thread / across, column = thread % across;
  const i64 down = (r.m + Rows - 1) / Rows, along = (r.n + Columns - 1) / Columns;
  const bool left_by_rows = r.a_column == 1, right_by_rows = r.b_column == 1;
  for (i64 tile = blockIdx.x; tile < r.batch.count * down * along; tile += gridDim.x) {
    const offsets at = offsets_of(r.batch, tile / (down * along));
    const i64 first_row = tile / along % down * Rows, first_column = tile % along * Columns;
    const N *const a = static_cast<const N*>(r.a) + at.x, *const b = static_cast<const N*>(r.b) + at.scale;
    N sums[of_rows][of_columns] = {};
    for (i64 first = 0; first < r.k; first += depth) {
      // Neighbouring threads read neighbours in memory.
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
        N* const to = static_cast<N*>(r.c) + at.statistics + y * r.c_row + x;
        *to = r.adds != 0 ? *to + sums[i][j] : sums[i][j];
      }
  }
}

}  // namespace troupe::dnn::on_gpu
