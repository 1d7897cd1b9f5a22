// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once
#include <cstdint>
#include <cstdio>
#include "cuda_runtime.h"
#include "device_launch_parameters.h"

// SHA-1 of passwords of up to 55 letters: a search for the one that has a given hash.

constexpr int MAX_LENGTH = 55;

struct Digest { uint32_t h0, h1, h2, h3, h4; };

__device__ __forceinline__ uint32_t rotate_left(uint32_t x, int by) { return __funnelshift_l(x, x, by); }

__device__ Digest sha1(const char *message, int length)
{
    uint32_t w[80] = {};
    for (int i = 0; i < length; ++i) w[i >> 2] |= (uint32_t)(unsigned char)message[i] << (24 - ((i & 3) << 3));
    w[length >> 2] |= 0x80u << (24 - ((length & 3) << 3));
    w[15] = length << 3;
#pragma unroll
    for (int i = 16; i < 80; ++i) w[i] = rotate_left(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);

    Digest out = {0x67452301u, 0xefcdab89u, 0x98badcfeu, 0x10325476u, 0xc3d2e1f0u};
    uint32_t a = out.h0, b = out.h1, c = out.h2, d = out.h3, e = out.h4;
    auto round = [&](uint32_t f, uint32_t k, uint32_t word) {
        uint32_t t = rotate_left(a, 5) + f + e + k + word;
        e = d;
        d = c;
        c = rotate_left(b, 30);
        b = a;
        a = t;
    };
    for (int i = 0; i < 20; ++i) round((b & c) | (~b & d), 0x5a827999u, w[i]);
    for (int i = 20; i < 40; ++i) round(b ^ c ^ d, 0x6ed9eba1u, w[i]);
    for (int i = 40; i < 60; ++i) round((b & c) | (b & d) | (c & d), 0x8f1bbcdcu, w[i]);
    for (int i = 60; i < 80; ++i) round(b ^ c ^ d, 0xca62c1d6u, w[i]);
    out.h0 += a; out.h1 += b; out.h2 += c; out.h3 += d; out.h4 += e;
    return out;
}

__device__ bool operator==(const Digest &x, const Digest &y)
{
    return x.h0 == y.h0 && x.h1 == y.h1 && x.h2 == y.h2 && x.h3 == y.h3 && x.h4 == y.h4;
}

__device__ volatile bool found = false;
__device__ unsigned long long found_at = 0xffffffffffffffffull;

// the number of a password is its letters as digits, the last one first
__global__ void search(Digest target, const char *alphabet, int letters, int length, unsigned long long first, Digest *all)
{
    unsigned long long number = first + blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
    char password[MAX_LENGTH + 1];
    unsigned long long rest = number;
    for (int i = 0; i < length; ++i, rest /= letters) password[i] = alphabet[rest % letters];
    if (rest != 0) return;

    const Digest mine = sha1(password, length);
    all[number - first] = mine;
    if (mine == target) {
        found = true;
        atomicMin(&found_at, number);
    }
}
