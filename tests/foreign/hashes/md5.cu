// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * MD5 of many messages of one length: a thread for each. The rounds are macros, as they always were.
 */
#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <stdint.h>

typedef unsigned char BYTE;
typedef uint32_t WORD;

#define ROTLEFT(a, b) (((a) << (b)) | ((a) >> (32 - (b))))

#define F(x, y, z) ((x & y) | (~x & z))
#define G(x, y, z) ((x & z) | (y & ~z))
#define H(x, y, z) (x ^ y ^ z)
#define I(x, y, z) (y ^ (x | ~z))

#define STEP(f, a, b, c, d, m, s, t) { a += f(b, c, d) + m + t; a = b + ROTLEFT(a, s); }

typedef struct {
	BYTE data[64];
	WORD datalen;
	unsigned long long bitlen;
	WORD state[4];
} MD5_CTX;

// floor(2^32 |sin(i + 1)|), and shifts of each round
__device__ __constant__ WORD sines[64];
__device__ __constant__ BYTE shifts[16] = { 7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21 };

__device__ void md5_block(MD5_CTX *ctx, const BYTE data[])
{
	WORD a, b, c, d, m[16], t, i, j;

	for (i = 0, j = 0; i < 16; ++i, j += 4)
		m[i] = (data[j]) + (data[j + 1] << 8) + (data[j + 2] << 16) + (data[j + 3] << 24);

	a = ctx->state[0];
	b = ctx->state[1];
	c = ctx->state[2];
	d = ctx->state[3];
	#pragma unroll 4
	for (i = 0; i < 64; ++i) {
		WORD s = shifts[i / 16 * 4 + i % 4];
		if (i < 16)      STEP(F, a, b, c, d, m[i], s, sines[i])
		else if (i < 32) STEP(G, a, b, c, d, m[(5 * i + 1) & 15], s, sines[i])
		else if (i < 48) STEP(H, a, b, c, d, m[(3 * i + 5) & 15], s, sines[i])
		else             STEP(I, a, b, c, d, m[(7 * i) & 15], s, sines[i])
		t = d; d = c; c = b; b = a; a = t;
	}
	ctx->state[0] += a;
	ctx->state[1] += b;
	ctx->state[2] += c;
	ctx->state[3] += d;
}

__device__ void md5_init(MD5_CTX *ctx)
{
	ctx->datalen = 0;
	ctx->bitlen = 0;
	ctx->state[0] = 0x67452301;
	ctx->state[1] = 0xEFCDAB89;
	ctx->state[2] = 0x98BADCFE;
	ctx->state[3] = 0x10325476;
}

__device__ void md5_update(MD5_CTX *ctx, const BYTE data[], size_t len)
{
	for (size_t i = 0; i < len; ++i) {
		ctx->data[ctx->datalen] = data[i];
		ctx->datalen++;
		if (ctx->datalen == 64) {
			md5_block(ctx, ctx->data);
			ctx->bitlen += 512;
			ctx->datalen = 0;
		}
	}
}

__device__ void md5_final(MD5_CTX *ctx, BYTE hash[])
{
	ctx->bitlen += ctx->datalen * 8;
	BYTE pad = 0x80, zero = 0, length[8];
	for (int i = 0; i < 8; ++i) length[i] = ctx->bitlen >> (i * 8);
	md5_update(ctx, &pad, 1);
	while (ctx->datalen != 56) md5_update(ctx, &zero, 1);
	md5_update(ctx, length, 8);
	for (int i = 0; i < 16; ++i) hash[i] = (ctx->state[i / 4] >> (i % 4 * 8)) & 0xff;
}

__global__ void md5_messages(BYTE* indata, WORD inlen, BYTE* outdata, WORD n_batch)
{
	WORD thread = blockIdx.x * blockDim.x + threadIdx.x;
	if (thread >= n_batch)
	{
		return;
	}
	BYTE* in = indata + thread * inlen;
	BYTE* out = outdata + thread * 16;
	MD5_CTX ctx;
	md5_init(&ctx);
	md5_update(&ctx, in, inlen);
	md5_final(&ctx, out);
}

// Host code
extern "C"
void md5_batch(BYTE* in, WORD inlen, BYTE* out, WORD n_batch)
{
	BYTE *dev_in;
	BYTE *dev_out;
	cudaMalloc(&dev_in, inlen * n_batch);
	cudaMalloc(&dev_out, 16 * n_batch);
	cudaMemcpy(dev_in, in, inlen * n_batch, cudaMemcpyHostToDevice);

	WORD thread = 256;
	WORD block = (n_batch + thread - 1) / thread;
	md5_messages << < block, thread >> > (dev_in, inlen, dev_out, n_batch);
	cudaMemcpy(out, dev_out, 16 * n_batch, cudaMemcpyDeviceToHost);
	cudaDeviceSynchronize();
	cudaError_t error = cudaGetLastError();
	if (error != cudaSuccess) {
		printf("md5: %s\n", cudaGetErrorString(error));
	}
	cudaFree(dev_in);
	cudaFree(dev_out);
}
