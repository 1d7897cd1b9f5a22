// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

// Energies of a molecule in many poses next to another one: several poses for each thread, structs read as vectors.
#ifndef PPWI
#define PPWI 2
#endif
#define ZERO 0.0f
#define CUTOFF 6.0f
#define HARD 38.0f

struct __align__(16) Atom { float x, y, z; int32_t type; };
struct FFParams { int32_t hbtype; float radius, hphb, elsc; };

template <size_t N>
static __global__ void poses_energy(const Atom *__restrict__ protein, const Atom *__restrict__ ligand,
                                    const FFParams *__restrict__ forcefield_global, const int natpro, const int natlig,
                                    const int ntypes, const int nposes,
                                    const float *__restrict__ angle_x, const float *__restrict__ angle_z,
                                    const float *__restrict__ shift_x, const float *__restrict__ shift_y,
                                    float *__restrict__ energies)
{
  extern __shared__ FFParams forcefield[];
  for (int t = threadIdx.x; t < ntypes; t += blockDim.x) forcefield[t] = forcefield_global[t];

  const size_t lid = threadIdx.x;
  const size_t first = blockIdx.x * blockDim.x * N + lid;
  float3 rows[N][3];
  float etot[N];
#pragma unroll
  for (size_t i = 0; i < N; i++) {
    const size_t pose = min((int)(first + i * blockDim.x), nposes - 1);
    float sx, cx, sz, cz;
    sincosf(angle_x[pose], &sx, &cx);
    sincosf(angle_z[pose], &sz, &cz);
    rows[i][0] = make_float3(cz, -sz * cx, sz * sx);
    rows[i][1] = make_float3(sz, cz * cx, -cz * sx);
    rows[i][2] = {ZERO, sx, cx};
    etot[i] = ZERO;
  }
  __syncthreads();

  for (int il = 0; il < natlig; il++) {
    const Atom l = ligand[il];
    const FFParams l_params = forcefield[l.type];
    float3 at[N];
    for (size_t i = 0; i < N; i++) {
      const size_t pose = min((int)(first + i * blockDim.x), nposes - 1);
      at[i].x = rows[i][0].x * l.x + rows[i][0].y * l.y + rows[i][0].z * l.z + shift_x[pose];
      at[i].y = rows[i][1].x * l.x + rows[i][1].y * l.y + rows[i][1].z * l.z + shift_y[pose];
      at[i].z = rows[i][2].x * l.x + rows[i][2].y * l.y + rows[i][2].z * l.z;
    }
    for (int ip = 0; ip < natpro; ip++) {
      const Atom p = protein[ip];
      const FFParams p_params = forcefield[p.type];
      const float sum_radius = p_params.radius + l_params.radius;
      const bool charged = p_params.hbtype && l_params.hbtype;
      for (size_t i = 0; i < N; i++) {
        const float dx = at[i].x - p.x, dy = at[i].y - p.y, dz = at[i].z - p.z;
        const float distance = sqrtf(dx * dx + dy * dy + dz * dz), gap = distance - sum_radius;
        etot[i] += gap < ZERO ? -gap / sum_radius * HARD : ZERO;
        etot[i] += distance < CUTOFF ? (p_params.hphb + l_params.hphb) * (1 - distance * (1 / CUTOFF)) : ZERO;
        if (charged && distance < CUTOFF) etot[i] += p_params.elsc * l_params.elsc * (1 - distance / CUTOFF);
      }
    }
  }
  for (size_t i = 0; i < N; i++)
    if (first + i * blockDim.x < nposes) energies[first + i * blockDim.x] = etot[i] * 0.5f;
}
