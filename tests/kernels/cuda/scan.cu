// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Inclusive prefix sums of each block, with two buffers in dynamic shared memory.
extern "C" __global__ void scan_blocks(const int* in, int* out, int n) {
  extern __shared__ int buffers[];
  int* from = buffers;
  int* to = buffers + blockDim.x;
  const int tid = threadIdx.x;
  const int i = blockIdx.x * blockDim.x + tid;
  from[tid] = i < n ? in[i] : 0;
  __syncthreads();
  for (int offset = 1; offset < blockDim.x; offset *= 2) {
    if (tid >= offset)
      to[tid] = from[tid] + from[tid - offset];
    else
      to[tid] = from[tid];
    __syncthreads();
    int* other = from;
    from = to;
    to = other;
  }
  if (i < n) out[i] = from[tid];
}
