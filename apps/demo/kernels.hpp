// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace demo {

/// The kernels that follow the matrix product of each layer: CUDA C++, compiled while the service starts. Matrices are
/// column-major; each column belongs to one question.
inline constexpr const char* kernels = R"(
// y = gelu(y + bias), with a thread for each element.
__global__ void bias_gelu(float* y, const float* bias, int rows, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float x = y[i] + bias[i % rows];
  y[i] = 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

// Turns the scores of each question into probabilities, by softmax. A block processes a column, and a thread a row of
// it; the threads find the largest score and the sum together, in shared memory.
constexpr int classes = CLASSES;

__global__ void bias_softmax(float* y, const float* bias) {
  __shared__ float folded[classes];
  const int row = threadIdx.x;
  float& mine = y[blockIdx.x * classes + row];
  const float score = mine + bias[row];

  folded[row] = score;
  __syncthreads();
  for (int half = classes / 2; half > 0; half /= 2) {
    if (row < half) folded[row] = fmaxf(folded[row], folded[row + half]);
    __syncthreads();
  }
  const float largest = folded[0];
  __syncthreads();

  const float share = expf(score - largest);
  folded[row] = share;
  __syncthreads();
  for (int half = classes / 2; half > 0; half /= 2) {
    if (row < half) folded[row] += folded[row + half];
    __syncthreads();
  }
  mine = share / folded[0];
}
)";

}  // namespace demo
