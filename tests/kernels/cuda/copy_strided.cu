// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Grid-stride loops, parameters that threads write to, and threadIdx in a device function.
__device__ unsigned global_index() { return blockIdx.x * blockDim.x + threadIdx.x; }

extern "C" __global__ void ramp(float* out, int n, float value, float slope) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) out[i] = value + slope * i;
}

extern "C" __global__ void walk(unsigned* out, unsigned n, unsigned state) {
  unsigned i = global_index();
  state += i;
  while (n-- > 0) state = state * 1664525u + 1013904223u;
  out[i] = state;
}
