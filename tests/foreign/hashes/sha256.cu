// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Double SHA-256 of blocks that contain a counter, and the smallest result, as in miners.
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <cuda.h>

#ifndef __CUDA_ARCH__
#define __CUDA_ARCH__ 0
#endif

typedef struct { uint8_t data[64]; uint32_t datalen; unsigned long long bitlen; uint32_t state[8]; } SHA256_CTX;

__constant__ uint32_t dev_k[64];
static const uint32_t host_k[2] = {0x428a2f98, 0x71374491};

#define ROTR(x, n) (((x) >> (n)) | ((x) << (32 - (n))))
#define CH(x, y, z) (((x) & (y)) ^ (~(x) & (z)))
#define MAJ(x, y, z) (((x) & (y)) ^ ((x) & (z)) ^ ((y) & (z)))
#define EP(x, a, b, c) (ROTR(x, a) ^ ROTR(x, b) ^ ROTR(x, c))
#define SIG(x, a, b, c) (ROTR(x, a) ^ ROTR(x, b) ^ ((x) >> (c)))

__device__ static __forceinline__ void sha256_transform(uint32_t *state, const uint32_t *words)
{
  uint32_t m[64], s[8];
  int i;
#pragma unroll 16
  for (i = 0; i < 16; ++i) m[i] = words[i];
  for (; i < 64; ++i) m[i] = SIG(m[i - 2], 17, 19, 10) + m[i - 7] + SIG(m[i - 15], 7, 18, 3) + m[i - 16];
  memcpy(s, state, sizeof s);
  for (i = 0; i < 64; ++i) {
    uint32_t t1 = s[7] + EP(s[4], 6, 11, 25) + CH(s[4], s[5], s[6]) + dev_k[i] + m[i];
    uint32_t t2 = EP(s[0], 2, 13, 22) + MAJ(s[0], s[1], s[2]);
    s[7] = s[6]; s[6] = s[5]; s[5] = s[4]; s[4] = s[3] + t1;
    s[3] = s[2]; s[2] = s[1]; s[1] = s[0]; s[0] = t1 + t2;
  }
  for (i = 0; i < 8; ++i) state[i] += s[i];
}

__device__ static void sha256_start(uint32_t state[8])
{
  state[0] = 0x6a09e667; state[1] = 0xbb67ae85; state[2] = 0x3c6ef372; state[3] = 0xa54ff53a;
  state[4] = 0x510e527f; state[5] = 0x9b05688c; state[6] = 0x1f83d9ab; state[7] = 0x5be0cd19;
}

// header: 19 words, and the counter as the 20th; all are already big-endian
__global__ void mine(const uint32_t *__restrict__ header, uint32_t first, int count, uint4 *digests, unsigned long long *best)
{
  const uint32_t nonce = first + blockIdx.x * blockDim.x + threadIdx.x;
  __shared__ uint32_t head[19];
  if (threadIdx.x < 19) head[threadIdx.x] = header[threadIdx.x];
  __syncthreads();
  if (nonce - first >= count) return;

  uint32_t state[8], block[32] = {0};
  for (int i = 0; i < 19; ++i) block[i] = head[i];
  block[19] = nonce;
  block[20] = 0x80000000u;
  block[31] = 80 * 8;
  sha256_start(state);
  sha256_transform(state, block);
  sha256_transform(state, block + 16);

  uint32_t again[16] = {0};
  for (int i = 0; i < 8; ++i) again[i] = state[i];
  again[8] = 0x80000000u;
  again[15] = 32 * 8;
  sha256_start(state);
  sha256_transform(state, again);

  uint4 *to = digests + 2 * (nonce - first);
  to[0] = make_uint4(state[0], state[1], state[2], state[3]);
  to[1] = make_uint4(state[4], state[5], state[6], state[7]);
  atomicMin(best, ((unsigned long long)state[0] << 32) | nonce);
}
