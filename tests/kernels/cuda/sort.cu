// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Bitonic sort of the elements of each block.
extern "C" __global__ void sort_blocks(unsigned* data) {
  extern __shared__ unsigned keys[];
  const unsigned t = threadIdx.x;
  data += blockIdx.x * blockDim.x;
  keys[t] = data[t];
  __syncthreads();
  for (unsigned size = 2; size <= blockDim.x; size *= 2) {
    for (unsigned stride = size / 2; stride > 0; stride /= 2) {
      const unsigned other = t ^ stride;
      if (other > t) {
        const bool ascending = (t & size) == 0;
        const unsigned a = keys[t], b = keys[other];
        if ((a > b) == ascending) {
          keys[t] = b;
          keys[other] = a;
        }
      }
      __syncthreads();
    }
  }
  data[t] = keys[t];
}
