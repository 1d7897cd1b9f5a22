// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <iostream>
#include <iomanip>
#include <cuda.h>

// AES-128 by blocks of 16 bytes, 16 of them in a block of threads: one thread for each column. The S-box is computed, not a constant table.
typedef unsigned char uchar;
#define COLUMNS 4
#define BLOCK_SIZE 64
#define ROUNDS 10

__constant__ uchar sbox_table[256];

__device__ uchar twice(uchar a) { return (a << 1) ^ (a & 0x80 ? 0x1b : 0); }

__global__ void make_sbox(uchar *out)
{
    // the inverse: a to the power of 254
    uchar a = threadIdx.x, power = 1;
    for (int bit = 7; bit >= 0; --bit) {
        for (int again = 0; again < 1 + ((254 >> bit) & 1); again++) {
            uchar x = power, y = again == 0 ? power : a, product = 0;
            for (; y != 0; y >>= 1, x = twice(x)) if (y & 1) product ^= x;
            power = product;
        }
    }
    uchar r = power;
    for (int i = 0; i < 4; i++) { power = (power << 1) | (power >> 7); r ^= power; }
    out[a] = r ^ 0x63;
}

__device__ void sub_bytes(uchar4 &c)
{
    c.x = sbox_table[c.x]; c.y = sbox_table[c.y]; c.z = sbox_table[c.z]; c.w = sbox_table[c.w];
}
__device__ uchar4 mix_column(const uchar4 &c)
{
    const uchar all = c.x ^ c.y ^ c.z ^ c.w;
    return make_uchar4(c.x ^ all ^ twice(c.x ^ c.y), c.y ^ all ^ twice(c.y ^ c.z), c.z ^ all ^ twice(c.z ^ c.w), c.w ^ all ^ twice(c.w ^ c.x));
}
__device__ void operator^=(uchar4 &a, const uchar4 &b) { a.x ^= b.x; a.y ^= b.y; a.z ^= b.z; a.w ^= b.w; }

__global__ void AESEncrypt(uchar4 * output, uchar4 * input, uchar4 * roundKey, int columns)
{
    extern __shared__ uchar4 states[];
    __shared__ uchar4 keys[(ROUNDS + 1) * COLUMNS];

    const unsigned int thread = threadIdx.x;
    const unsigned int at = blockIdx.x * BLOCK_SIZE + thread;
    if (thread < (ROUNDS + 1) * COLUMNS) keys[thread] = roundKey[thread];
    states[thread] = at < columns ? input[at] : make_uchar4(0, 0, 0, 0);
    __syncthreads();

    const unsigned int column = thread % COLUMNS, first = thread - column;
    states[thread] ^= keys[column];
    for (unsigned int r = 1; r <= ROUNDS; ++r) {
        __syncthreads();
        uchar4 c;
        c.x = states[thread].x;
        c.y = states[first + (column + 1) % COLUMNS].y;
        c.z = states[first + (column + 2) % COLUMNS].z;
        c.w = states[first + (column + 3) % COLUMNS].w;
        __syncthreads();
        sub_bytes(c);
        if (r < ROUNDS) c = mix_column(c);
        c ^= keys[r * COLUMNS + column];
        states[thread] = c;
    }
    if (at < columns) output[at] = states[thread];
}
