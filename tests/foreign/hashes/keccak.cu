// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Keccak with 1600 bits: SHA3 or the older padding, of any length.
 */
extern "C"
{
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
}

typedef unsigned char  BYTE;
typedef uint32_t  WORD;
typedef uint64_t  LONG;

#define KECCAK_ROUND 24
#define KECCAK_STATE_SIZE 25
#define KECCAK_Q_SIZE 192

__constant__ LONG round_constants[24];

typedef struct {
    BYTE sha3_flag;
    WORD digestbitlen;
    LONG rate_bits;
    LONG rate_BYTEs;
    LONG rounds_done;
    int64_t state[KECCAK_STATE_SIZE];
    BYTE q[KECCAK_Q_SIZE];
    LONG bits_in_queue;
} sponge;

__device__ LONG rotate(LONG a, LONG b)
{
    return b ? (a << b) ^ (a >> (64 - b)) : a;
}

__device__ void permutations(sponge* ctx)
{
    int64_t* A = ctx->state;
    int64_t C[5];

    for (int i = 0; i < KECCAK_ROUND; i++) {
        // columns
        for (int x = 0; x < 5; x++)
            C[x] = A[x] ^ A[x + 5] ^ A[x + 10] ^ A[x + 15] ^ A[x + 20];
        for (int x = 0; x < 5; x++) {
            int64_t d = rotate(C[(x + 1) % 5], 1) ^ C[(x + 4) % 5];
            for (int y = 0; y < 25; y += 5) A[x + y] ^= d;
        }
        // words are moved and rotated, each by its own count
        int64_t moving = A[1];
        for (int t = 0, x = 1, y = 0; t < 24; t++) {
            int next = (2 * x + 3 * y) % 5;
            x = y;
            y = next;
            int64_t here = A[5 * y + x];
            A[5 * y + x] = rotate(moving, ((t + 1) * (t + 2) / 2) % 64);
            moving = here;
        }
        // rows
        for (int y = 0; y < 25; y += 5) {
            for (int x = 0; x < 5; x++) C[x] = A[y + x];
            for (int x = 0; x < 5; x++) A[y + x] = C[x] ^ (~C[(x + 1) % 5] & C[(x + 2) % 5]);
        }
        A[0] ^= round_constants[i];
    }
}

__device__ void absorb(sponge *ctx, const BYTE* in)
{
    for (LONG i = 0; i < ctx->rate_BYTEs; i++)
        reinterpret_cast<BYTE*>(ctx->state)[i] ^= in[i];
    permutations(ctx);
}

__device__ void init(sponge *ctx, WORD digestbitlen, BYTE sha3_flag)
{
    memset(ctx, 0, sizeof(sponge));
    ctx->sha3_flag = sha3_flag;
    ctx->digestbitlen = digestbitlen;
    ctx->rate_bits = 1600 - ((ctx->digestbitlen) << 1);
    ctx->rate_BYTEs = ctx->rate_bits >> 3;
}

__device__ void update(sponge *ctx, BYTE *in, LONG inlen)
{
    for (LONG used = 0; used < inlen; ) {
        LONG at = ctx->bits_in_queue >> 3;
        LONG take = min(ctx->rate_BYTEs - at, inlen - used);
        memcpy(ctx->q + at, in + used, take);
        used += take;
        ctx->bits_in_queue += take << 3;
        if (ctx->bits_in_queue == ctx->rate_bits) {
            absorb(ctx, ctx->q);
            ctx->rounds_done++;
            ctx->bits_in_queue = 0;
        }
    }
}

__device__ void final(sponge *ctx, BYTE *out)
{
    LONG at = ctx->bits_in_queue >> 3;
    memset(ctx->q + at, 0, ctx->rate_BYTEs - at);
    ctx->q[at] ^= ctx->sha3_flag ? 0x06 : 0x01;
    ctx->q[ctx->rate_BYTEs - 1] ^= 0x80;
    absorb(ctx, ctx->q);
    memcpy(out, ctx->state, ctx->digestbitlen >> 3);
}

__global__ void keccak_messages(BYTE* indata, WORD inlen, BYTE* outdata, WORD count, WORD digestbitlen, BYTE sha3_flag)
{
    WORD thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= count) return;
    sponge ctx;
    init(&ctx, digestbitlen, sha3_flag);
    update(&ctx, indata + thread * inlen, inlen);
    final(&ctx, outdata + thread * (digestbitlen >> 3));
}
