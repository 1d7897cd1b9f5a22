// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Layer norm of rows: sums of a block by shuffles, in a device function with a barrier of its own.
template <typename T>
__device__ T block_sum(T value, T* scratch) {
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  for (int offset = 16; offset > 0; offset >>= 1) value += __shfl_xor_sync(0xffffffff, value, offset);
  __syncthreads();
  if (lane == 0) scratch[warp] = value;
  __syncthreads();
  T total = 0;
  for (int w = 0; w < (blockDim.x + 31) / 32; ++w) total += scratch[w];
  return total;
}

extern "C" __global__ void layer_norm(const float* x, const float* gain, const float* bias, float* y, int columns,
                                      float epsilon) {
  __shared__ float scratch[32];
  const float* row = x + blockIdx.x * columns;
  float sum = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) sum += row[c];
  const float mean = block_sum(sum, scratch) / columns;
  float squares = 0;
  for (int c = threadIdx.x; c < columns; c += blockDim.x) {
    const float d = row[c] - mean;
    squares = fmaf(d, d, squares);
  }
  const float scale = rsqrtf(block_sum(squares, scratch) / columns + epsilon);
  for (int c = threadIdx.x; c < columns; c += blockDim.x)
    y[blockIdx.x * columns + c] = (row[c] - mean) * scale * gain[c] + bias[c];
}
