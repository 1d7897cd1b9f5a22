// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// One step of an n-body simulation, with a struct of settings by value.
struct settings {
  float softening;
  float time_step;
  float3 drift;
};

template <int Block>
__global__ void attract(const float4* __restrict__ bodies, float4* __restrict__ velocities, int n, settings s) {
  __shared__ float4 tile[Block];
  const int i = blockIdx.x * Block + threadIdx.x;
  const float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0);
  float3 a = make_float3(s.drift.x, s.drift.y, s.drift.z);
  for (int first = 0; first < n; first += Block) {
    tile[threadIdx.x] = first + threadIdx.x < n ? bodies[first + threadIdx.x] : make_float4(0, 0, 0, 0);
    __syncthreads();
#pragma unroll 8
    for (int j = 0; j < Block; ++j) {
      const float4 other = tile[j];
      const float dx = other.x - me.x, dy = other.y - me.y, dz = other.z - me.z;
      const float r2 = dx * dx + dy * dy + dz * dz + s.softening;
      const float inverse = rsqrtf(r2);
      const float f = other.w * inverse * inverse * inverse;
      a.x += dx * f;
      a.y += dy * f;
      a.z += dz * f;
    }
    __syncthreads();
  }
  if (i < n) {
    float4 v = velocities[i];
    v.x += a.x * s.time_step;
    v.y += a.y * s.time_step;
    v.z += a.z * s.time_step;
    velocities[i] = v;
  }
}
