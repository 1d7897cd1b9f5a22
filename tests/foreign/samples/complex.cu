// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Complex numbers by cuComplex.h: products of spectra, and a radix-2 transform of our own in shared memory.
 */
#include <stdio.h>
#include <cuComplex.h>
#include <math_constants.h>

typedef float2 Complex;

static __device__ __host__ inline Complex ComplexScale(Complex a, float s) {
  Complex c;
  c.x = s * a.x;
  c.y = s * a.y;
  return c;
}

static __global__ void multiplyAndScale(Complex *a, const Complex *b, int size, float scale) {
  const int numThreads = blockDim.x * gridDim.x;
  const int threadID = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = threadID; i < size; i += numThreads) {
    a[i] = ComplexScale(cuCmulf(a[i], b[i]), scale);
  }
}

// A block of N / 2 threads for each transform.
template <int N>
static __global__ void fft(cuFloatComplex *data, float sign) {
  __shared__ cuFloatComplex s[N];
  data += blockIdx.x * N;
  const int bits = 31 - __clz(N);
  for (int i = threadIdx.x; i < N; i += N / 2) s[__brev(i) >> (32 - bits)] = data[i];
  for (int half = 1; half < N; half *= 2) {
    __syncthreads();
    const int k = threadIdx.x & (half - 1), i = 2 * (threadIdx.x - k) + k;
    float sine, cosine;
    sincosf(sign * CUDART_PI_F * k / half, &sine, &cosine);
    const cuFloatComplex t = cuCmulf(make_cuFloatComplex(cosine, sine), s[i + half]), u = s[i];
    s[i] = cuCaddf(u, t);
    s[i + half] = cuCsubf(u, t);
  }
  __syncthreads();
  for (int i = threadIdx.x; i < N; i += N / 2) data[i] = s[i];
}

static __global__ void magnitudes(const cuDoubleComplex *z, double *out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = cuCabs(cuCdiv(cuConj(z[i]), make_cuDoubleComplex(cuCreal(z[0]), cuCimag(z[0]))));
}
