// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Arithmetic in half and bfloat16, two at a time.
#include <cuda_bf16.h>
#include <cuda_fp16.h>

extern "C" __global__ void axpy_half2(int pairs, __half a, const __half2* x, __half2* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= pairs) return;
  y[i] = __hfma2(__half2half2(a), x[i], y[i]);
}

extern "C" __global__ void polynomial_half(int n, const __half* x, __half* y) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    const __half v = x[i];
    __half r = __float2half(0.5f);
    r = __hadd_rn(__hmul_rn(r, v), __float2half_rn(1.25f));
    r = __hsub_rn(__hmul_rn(r, v), __int2half_rn(3));
    y[i] = __hdiv(r, __hadd_rn(__habs(v), __float2half(1.0f)));
  }
}

extern "C" __global__ void mix_bfloat16(int n, float w, const __nv_bfloat16* x, const float* z, __nv_bfloat16* y) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    y[i] = __float2bfloat16(__bfloat162float(x[i]) * w + z[i]);
}
