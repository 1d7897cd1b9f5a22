// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstring>
#include <cuda_runtime.h>

// BLAKE2s of 80 bytes, as in a miner: rounds unrolled by macros, words as vectors, and no work whose result is known.
#ifdef __INTELLISENSE__
#define __launch_bounds__(x)
#define __byte_perm(x, y, z) x
#endif

#define TPB 64
#define SWAP32(x) __byte_perm(x, 0, 0x0123)

static __constant__ uint32_t start_values[8] = {
	0x6A09E667, 0xBB67AE85, 0x3C6EF372, 0xA54FF53A, 0x510E527F, 0x9B05688C, 0x1F83D9AB, 0x5BE0CD19
};
static __constant__ uint8_t orders[10][16];

__device__ __forceinline__ uint32_t right(const uint32_t x, const uint32_t by)
{
#if __CUDA_ARCH__ >= 320
	if (by == 16) return __byte_perm(x, x, 0x1032);
	if (by == 8) return __byte_perm(x, x, 0x0321);
	return __funnelshift_r(x, x, by);
#else
	return (x >> by) | (x << (32 - by));
#endif
}

#define QUARTER(a, b, c, d, r, i) { \
	v[a] += v[b] + m[orders[r][2 * i]]; v[d] = right(v[d] ^ v[a], 16); \
	v[c] += v[d];       v[b] = right(v[b] ^ v[c], 12); \
	v[a] += v[b] + m[orders[r][2 * i + 1]]; v[d] = right(v[d] ^ v[a], 8);  \
	v[c] += v[d];       v[b] = right(v[b] ^ v[c], 7);  }

__device__ __forceinline__ static void compress(uint32_t *h, const uint32_t *__restrict__ m, const uint32_t bytes, const bool is_last)
{
	uint32_t v[16];
	#pragma unroll
	for (int i = 0; i < 8; i++) { v[i] = h[i]; v[i + 8] = start_values[i]; }
	v[12] ^= bytes;
	if (is_last) v[14] = ~v[14];

	#pragma unroll 2
	for (int r = 0; r < 10; r++) {
		QUARTER(0, 4,  8, 12, r, 0);
		QUARTER(1, 5,  9, 13, r, 1);
		QUARTER(2, 6, 10, 14, r, 2);
		QUARTER(3, 7, 11, 15, r, 3);
		QUARTER(0, 5, 10, 15, r, 4);
		QUARTER(1, 6, 11, 12, r, 5);
		QUARTER(2, 7,  8, 13, r, 6);
		QUARTER(3, 4,  9, 14, r, 7);
	}
	#pragma unroll
	for (int i = 0; i < 8; i++) h[i] ^= v[i] ^ v[i + 8];
}

__global__ __launch_bounds__(TPB, 8)
void hash_headers(const uint32_t threads, const uint32_t first, const uint4 *header, uint2 *out)
{
	const uint32_t thread = (blockDim.x * blockIdx.x + threadIdx.x);
	if (thread < threads) {
		uint32_t h[8], m[32] = { 0 };
		for (int i = 0; i < 8; i++) h[i] = start_values[i];
		h[0] ^= 0x01010020;    // 32 bytes of result, no key

		#pragma unroll 5
		for (int i = 0; i < 5; i++) *(uint4 *)(m + 4 * i) = header[i];
		m[19] = SWAP32(first + thread);
		compress(h, m, 64, false);
		compress(h, m + 16, 80, true);

		out += thread * 4;
		for (int i = 0; i < 4; i++) out[i] = make_uint2(h[2 * i], h[2 * i + 1]);
	}
}
