// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <cstring>
#include <cuda.h>

// A surface from control points, of any degree: factorials in the kernel, points in shared memory if they fit.
typedef float FLOAT;

typedef struct {
  FLOAT x, y, z;
} XYZ;

class Params {
public:
  int work_group_size, in_size_i, in_size_j, out_size_i, out_size_j;
};

__host__ __device__ inline FLOAT blend(int k, FLOAT mu, int n)
{
  int top = n, low = k, rest = n - k;
  FLOAT value = 1;
  while (top >= 1) {
    value *= top--;
    if (low > 1) value /= (FLOAT)low--;
    if (rest > 1) value /= (FLOAT)rest--;
  }
  if (k > 0) value *= pow(mu, (FLOAT)k);
  if (n - k > 0) value *= pow(1 - mu, (FLOAT)(n - k));
  return value;
}

__global__ void surface(const int n, const Params p, const XYZ *__restrict__ in, XYZ *__restrict__ out)
{
  extern __shared__ FLOAT raw[];
  XYZ *points = (XYZ *) raw;
  const int count = (p.in_size_i + 1) * (p.in_size_j + 1);
  for (int i = threadIdx.x; i < count; i += blockDim.x) points[i] = in[i];
  __syncthreads();

  for (int row = blockIdx.x * blockDim.x + threadIdx.x; row < p.out_size_i; row += blockDim.x * gridDim.x) {
    const FLOAT mui = row / (FLOAT)(p.out_size_i - 1);
    for (int j = 0; j < p.out_size_j; j++) {
      const FLOAT muj = j / (FLOAT)(p.out_size_j - 1);
      XYZ sum = {0, 0, 0};
      for (int ki = 0; ki <= p.in_size_i; ki++) {
        const FLOAT bi = blend(ki, mui, p.in_size_i);
        for (int kj = 0; kj <= p.in_size_j; kj++) {
          const FLOAT w = bi * blend(kj, muj, p.in_size_j);
          const XYZ *c = points + ki * (p.in_size_j + 1) + kj;
          sum.x += c->x * w;
          sum.y += c->y * w;
          sum.z += c->z * w;
        }
      }
      out[row * p.out_size_j + j] = sum;
    }
  }
}
