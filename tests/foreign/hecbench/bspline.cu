// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <vector>
#include <math.h>
#include <cuda.h>

// Sums over 4 x 4 x 4 values of splines, and their gradients and second derivatives, for many functions at once: one block for each walker.
template <typename T> struct BASIS { T a[4], da[4], d2a[4]; };

template <typename T>
__device__ __forceinline__ void weights_of(T t, BASIS<T> &w)
{
  static constexpr T A[16] = {-1.0 / 6,  3.0 / 6, -3.0 / 6, 1.0 / 6, 3.0 / 6, -6.0 / 6, 0.0, 4.0 / 6,
                              -3.0 / 6, 3.0 / 6,  3.0 / 6, 1.0 / 6, 1.0 / 6, 0.0, 0.0, 0.0};
#pragma unroll
  for (int i = 0; i < 4; i++) {
    const T c3 = A[4 * i], c2 = A[4 * i + 1], c1 = A[4 * i + 2], c0 = A[4 * i + 3];
    w.a[i] = ((c3 * t + c2) * t + c1) * t + c0;
    w.da[i] = (3 * c3 * t + 2 * c2) * t + c1;
    w.d2a[i] = 6 * c3 * t + 2 * c2;
  }
}

template <typename T>
__global__ void values_gradients_laplacians (const T *__restrict__ spline_coefs, int3 grid, const T *__restrict__ walkers,
                                             int splines, T *__restrict__ vals, T *__restrict__ grads, T *__restrict__ lapls)
{
  static __shared__ BASIS<T> basis[3];
  static __shared__ int cell[3];

  if (threadIdx.x < 3) {
    const int n = threadIdx.x == 0 ? grid.x : threadIdx.x == 1 ? grid.y : grid.z;
    const T u = walkers[3 * blockIdx.x + threadIdx.x] * n;
    const int whole = min(max(0, (int)u), n - 1);
    cell[threadIdx.x] = whole;
    weights_of(u - whole, basis[threadIdx.x]);
  }
  __syncthreads();

  for (int s = threadIdx.x; s < splines; s += blockDim.x) {
    T v = 0, g[3] = {0, 0, 0}, l = 0;
    for (int i = 0; i < 4; i++)
      for (int j = 0; j < 4; j++) {
        const T *coefs = spline_coefs + ((cell[0] + i) * (grid.y + 3) + cell[1] + j) * (grid.z + 3) * splines;
        coefs += cell[2] * splines + s;
        for (int k = 0; k < 4; k++, coefs += splines) {
          v += basis[0].a[i] * basis[1].a[j] * basis[2].a[k] * *coefs;
          g[0] += basis[0].da[i] * basis[1].a[j] * basis[2].a[k] * *coefs;
          g[1] += basis[0].a[i] * basis[1].da[j] * basis[2].a[k] * *coefs;
          g[2] += basis[0].a[i] * basis[1].a[j] * basis[2].da[k] * *coefs;
          l += (basis[0].d2a[i] * basis[1].a[j] * basis[2].a[k] + basis[0].a[i] * basis[1].d2a[j] * basis[2].a[k] +
                basis[0].a[i] * basis[1].a[j] * basis[2].d2a[k]) * *coefs;
        }
      }
    const int out = blockIdx.x * splines + s;
    vals[out] = v;
    for (int d = 0; d < 3; d++) grads[3 * out + d] = g[d];
    lapls[out] = l;
  }
}
