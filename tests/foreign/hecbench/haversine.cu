// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <chrono>
#include <cuda.h>

#define BLOCK_SIZE 256
#define EARTH_KM 6371.0
#define GPU_CHECK(x) do { \
  cudaError_t err = x; \
  if (err != cudaSuccess) { printf("%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(err)); exit(1); } } while (0)

typedef double4 ways;   // from x, y to z, w: latitudes and longitudes in degrees

static inline __host__ __device__ double half_square(const double degrees)
{
  const double s = sin(degrees * (M_PI / 360));
  return s * s;
}

__global__ void
lengths (const ways *__restrict__ way,
               double *__restrict__ km,
         const int n)
{
  int i = blockIdx.x*blockDim.x+threadIdx.x;
  if (i >= n) return;
  const auto w = way[i];
  const auto flat = cospi(w.x / 180) * cospi(w.z / 180);
  km[i] = 2 * EARTH_KM * asin(sqrt(half_square(w.z - w.x) + flat * half_square(w.w - w.y)));
}

// Host code
int main(int argc, char** argv)
{
  if (argc != 2) {
    printf("Usage: %s <repeat>\n", argv[0]);
    return 1;
  }
  const int n = 1 << 16, repeat = atoi(argv[1]);
  ways *d_way;
  double *d_km;
  GPU_CHECK(cudaMalloc((void**)&d_way, sizeof(ways) * n));
  GPU_CHECK(cudaMalloc((void**)&d_km, sizeof(double) * n));
  GPU_CHECK(cudaMemset(d_way, 0, sizeof(ways) * n));
  dim3 grids ((n + BLOCK_SIZE - 1) / BLOCK_SIZE), threads (BLOCK_SIZE);
  auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < repeat; i++) lengths<<<grids, threads>>>(d_way, d_km, n);
  GPU_CHECK(cudaDeviceSynchronize());
  auto ns = std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now() - start).count();
  printf("Average time of a kernel: %f us\n", ns * 1e-3f / repeat);
  GPU_CHECK(cudaFree(d_way));
  GPU_CHECK(cudaFree(d_km));
  return 0;
}
