// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// y = A x for a sparse matrix in CSR form: a row for each thread, and a row for each warp.
template <typename T, typename Index>
__global__ void spmv_scalar(Index rows, const Index* offsets, const Index* columns, const T* values, const T* x, T* y) {
  const Index row = blockIdx.x * blockDim.x + threadIdx.x;
  if (row >= rows) return;
  T sum = 0;
  for (Index k = offsets[row]; k < offsets[row + 1]; ++k) sum += values[k] * __ldg(&x[columns[k]]);
  y[row] = sum;
}

template <typename T, typename Index>
__global__ void spmv_warp(Index rows, const Index* offsets, const Index* columns, const T* values, const T* x, T* y) {
  const Index row = (blockIdx.x * blockDim.x + threadIdx.x) / warpSize;
  const int lane = threadIdx.x % warpSize;
  if (row >= rows) return;
  T sum = 0;
  for (Index k = offsets[row] + lane; k < offsets[row + 1]; k += warpSize) sum += values[k] * x[columns[k]];
  for (int offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffffu, sum, offset);
  if (lane == 0) y[row] = sum;
}
