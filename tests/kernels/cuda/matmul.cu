// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// C = A B for square matrices in row-major order, by tiles in shared memory.
template <int Tile>
__global__ void matmul(const float* A, const float* B, float* C, int n) {
  __shared__ float a_tile[Tile][Tile + 1];
  __shared__ float b_tile[Tile][Tile + 1];

  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * Tile + ty;
  const int col = blockIdx.x * Tile + tx;
  float sum = 0.0f;

  for (int k0 = 0; k0 < n; k0 += Tile) {
    a_tile[ty][tx] = row < n && k0 + tx < n ? A[row * n + k0 + tx] : 0.0f;
    b_tile[ty][tx] = k0 + ty < n && col < n ? B[(k0 + ty) * n + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < Tile; ++k) sum += a_tile[ty][k] * b_tile[k][tx];
    __syncthreads();
  }
  if (row < n && col < n) C[row * n + col] = sum;
}
