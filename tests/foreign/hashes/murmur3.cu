// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// MurmurHash3 of keys of many lengths, with 128 bits of result.
#include <iostream>
#include <cstdio>
#include <cstdlib>
#include <stdint.h>
#include <cuda.h>

#define BLOCK_SIZE 256

#define BIG_CONSTANT(x) (x##LU)
#define ROTL64(x, y) rotl64(x, y)

inline __host__ __device__ uint64_t rotl64 ( uint64_t x, int8_t r )
{
  return (x << r) | (x >> (64 - r));
}

static __host__ __device__ __forceinline__ uint64_t mix_last ( uint64_t k )
{
  for (int i = 0; i < 2; i++) {
    k ^= k >> 33;
    k *= i == 0 ? BIG_CONSTANT(0xff51afd7ed558ccd) : BIG_CONSTANT(0xc4ceb9fe1a85ec53);
  }
  return k ^ (k >> 33);
}

__host__ __device__
void murmur3_128 ( const void * key, const uint32_t len, const uint32_t seed, void * out )
{
  const uint8_t * data = (const uint8_t*)key;
  uint64_t h1 = seed, h2 = seed, k1, k2;
  const uint64_t c1 = BIG_CONSTANT(0x87c37b91114253d5);
  const uint64_t c2 = BIG_CONSTANT(0x4cf5ad432745937f);

  const uint64_t * words = (const uint64_t *)(data);
  uint32_t i = 0;
  for(; i < len / 16; i++)
  {
    k1 = words[i*2]; k2 = words[i*2+1];
    k1 *= c1; k1 = ROTL64(k1,31); k1 *= c2; h1 ^= k1;
    h1 = ROTL64(h1,27); h1 += h2; h1 = h1*5+0x52dce729;
    k2 *= c2; k2 = ROTL64(k2,33); k2 *= c1; h2 ^= k2;
    h2 = ROTL64(h2,31); h2 += h1; h2 = h2*5+0x38495ab5;
  }

  const uint8_t * tail = data + i * 16;
  k1 = k2 = 0;
  switch(len & 15)
  {
  case 15: k2 ^= ((uint64_t)tail[14]) << 48;
  case 14: k2 ^= ((uint64_t)tail[13]) << 40;
  case 13: k2 ^= ((uint64_t)tail[12]) << 32;
  case 12: k2 ^= ((uint64_t)tail[11]) << 24;
  case 11: k2 ^= ((uint64_t)tail[10]) << 16;
  case 10: k2 ^= ((uint64_t)tail[ 9]) << 8;
  case  9: k2 ^= ((uint64_t)tail[ 8]) << 0;
           k2 *= c2; k2 = ROTL64(k2,33); k2 *= c1; h2 ^= k2;
  case  8: k1 ^= ((uint64_t)tail[ 7]) << 56;
  case  7: k1 ^= ((uint64_t)tail[ 6]) << 48;
  case  6: k1 ^= ((uint64_t)tail[ 5]) << 40;
  case  5: k1 ^= ((uint64_t)tail[ 4]) << 32;
  case  4: k1 ^= ((uint64_t)tail[ 3]) << 24;
  case  3: k1 ^= ((uint64_t)tail[ 2]) << 16;
  case  2: k1 ^= ((uint64_t)tail[ 1]) << 8;
  case  1: k1 ^= ((uint64_t)tail[ 0]) << 0;
           k1 *= c1; k1 = ROTL64(k1,31); k1 *= c2; h1 ^= k1;
  };

  h1 ^= len; h2 ^= len;
  h1 += h2; h2 += h1;
  h1 = mix_last(h1); h2 = mix_last(h2);
  h1 += h2; h2 += h1;
  ((uint64_t*)out)[0] = h1;
  ((uint64_t*)out)[1] = h2;
}

__global__ void hash_keys ( const uint8_t *__restrict__ keys, const uint32_t *__restrict__ places,
                            const uint32_t *__restrict__ length, uint64_t *__restrict__ out, const uint32_t n )
{
  unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) {
    keys += places[i];
    out += i * 2;
    murmur3_128(keys, length[i], i, out);
  }
}

// Host code
int main(int argc, char** argv)
{
  uint32_t n = argc > 1 ? atoi(argv[1]) : 100;
  int repeat = 10;
  uint8_t *d_keys;
  uint32_t *d_places, *d_length;
  uint64_t *d_out, h_out[2];
  cudaMalloc((void**)&d_keys, 16 * n);
  cudaMalloc((void**)&d_places, sizeof(uint32_t) * n);
  cudaMalloc((void**)&d_length, sizeof(uint32_t) * n);
  cudaMalloc((void**)&d_out, sizeof(uint64_t) * 2 * n);
  cudaMemset(d_keys, 7, 16 * n);

  dim3 gridDim ((n + BLOCK_SIZE - 1) / BLOCK_SIZE);
  dim3 blockDim (BLOCK_SIZE);
  for (int i = 0; i < repeat; i++)
    hash_keys<<<gridDim, blockDim>>>(d_keys, d_places, d_length, d_out, n);
  cudaMemcpy(h_out, d_out, sizeof h_out, cudaMemcpyDeviceToHost);
  std::cout << "first: " << std::hex << h_out[0] << h_out[1] << std::endl;
  cudaFree(d_keys); cudaFree(d_places); cudaFree(d_length); cudaFree(d_out);
  return 0;
}
