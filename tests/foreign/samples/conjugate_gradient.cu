// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Conjugate gradients in one kernel: the grid meets between the steps. Beside it, the steps as kernels of their own.
 */
#include <stdio.h>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

__device__ double dotOfGrid = 0.0;

__device__ void multiply(int *I, int *J, float *val, int rows, float *x, float *y, const cg::grid_group &grid) {
  for (int i = grid.thread_rank(); i < rows; i += grid.size()) {
    float of_row = 0.0f;
    for (int j = I[i]; j < I[i + 1]; j++) of_row += val[j] * x[J[j]];
    y[i] = of_row;
  }
}

__device__ void addTo(float *x, float *y, float a, int size, const cg::grid_group &grid) {
  for (int i = grid.thread_rank(); i < size; i += grid.size()) y[i] = a * x[i] + y[i];
}

__device__ void dot(float *a, float *b, int size, const cg::thread_block &cta, const cg::grid_group &grid) {
  extern __shared__ double tmp[];
  double sum = 0.0;
  for (int i = grid.thread_rank(); i < size; i += grid.size()) sum += static_cast<double>(a[i] * b[i]);
  cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
  sum = cg::reduce(tile32, sum, cg::plus<double>());
  if (tile32.thread_rank() == 0) tmp[tile32.meta_group_rank()] = sum;
  cg::sync(cta);
  if (tile32.meta_group_rank() == 0) {
    sum = tile32.thread_rank() < tile32.meta_group_size() ? tmp[tile32.thread_rank()] : 0.0;
    sum = cg::reduce(tile32, sum, cg::plus<double>());
    if (tile32.thread_rank() == 0) atomicAdd(&dotOfGrid, sum);
  }
}

// the steps, for a host that launches them one by one
extern "C" __global__ void spmvStep(int *I, int *J, float *val, int rows, float *x, float *y) {
  multiply(I, J, val, rows, x, y, cg::this_grid());
}
extern "C" __global__ void saxpyStep(float *x, float *y, float a, int size) { addTo(x, y, a, size, cg::this_grid()); }
extern "C" __global__ void dotStep(float *a, float *b, int size) {
  dot(a, b, size, cg::this_thread_block(), cg::this_grid());
}

extern "C" __global__ void firstResidual(int *I, int *J, float *val, float *x, float *Ax, float *p, float *r,
                                                double *dot_result, int N, float tol) {
  cg::thread_block cta = cg::this_thread_block();
  cg::grid_group grid = cg::this_grid();
  multiply(I, J, val, N, x, Ax, grid);
  cg::sync(grid);
  addTo(Ax, r, -1.0f, N, grid);
  cg::sync(grid);
  dot(r, r, N, cta, grid);
  cg::sync(grid);
  if (grid.thread_rank() == 0) *dot_result = dotOfGrid;
}
