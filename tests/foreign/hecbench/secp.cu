// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdio.h>
#include <cuda.h>

// Numbers of 256 bits modulo 2^256 - 2^32 - 977, as eight words each: sums and products with carries, powers, inverses.
typedef struct { uint32_t w[8]; } u256;

__constant__ static u256 P = {{0xfffffc2f, 0xfffffffe, ~0u, ~0u, ~0u, ~0u, ~0u, ~0u}};

__device__ __forceinline__ static int not_below_p(const u256 *a)
{
  for (int i = 7; i >= 0; i--) {
    if (a->w[i] > P.w[i]) return 1;
    if (a->w[i] < P.w[i]) return 0;
  }
  return 1;
}

__device__ static void take_p(u256 *a)
{
  uint64_t borrow = 0;
  for (int i = 0; i < 8; i++) {
    uint64_t d = (uint64_t)a->w[i] - P.w[i] - borrow;
    a->w[i] = (uint32_t)d;
    borrow = (d >> 32) & 1;
  }
}

__device__ void mod_add(u256 *r, const u256 *a, const u256 *b)
{
  uint64_t carry = 0;
#pragma unroll
  for (int i = 0; i < 8; i++) {
    carry += (uint64_t)a->w[i] + b->w[i];
    r->w[i] = (uint32_t)carry;
    carry >>= 32;
  }
  if (carry || not_below_p(r)) take_p(r);
}

__device__ void mod_mul(u256 *r, const u256 *a, const u256 *b)
{
  uint32_t t[17] = {0};
  for (int i = 0; i < 8; i++) {
    uint32_t carry = 0;
    for (int j = 0; j < 8; j++) {
      const uint32_t low = a->w[i] * b->w[j], high = __umulhi(a->w[i], b->w[j]);
      uint64_t sum = ((uint64_t)high << 32 | low) + t[i + j] + carry;
      t[i + j] = (uint32_t)sum;
      carry = (uint32_t)(sum >> 32);
    }
    t[i + 8] = carry;
  }
  // the part above 2^256 is added times 2^32 + 977, in two rounds
  for (int round = 0; round < 3; round++) {
    uint32_t high[9];
    for (int i = 0; i < 9; i++) { high[i] = t[8 + i]; t[8 + i] = 0; }
    uint64_t carry = 0;
    for (int i = 0; i < 10; i++) {
      carry += t[i];
      if (i < 9) carry += (uint64_t)high[i] * 977;
      uint32_t low = (uint32_t)carry;
      carry >>= 32;
      if (i > 0) {
        uint64_t s = (uint64_t)low + high[i - 1];
        low = (uint32_t)s;
        carry += s >> 32;
      }
      t[i] = low;
    }
    t[10] = (uint32_t)carry;
  }
  for (int i = 0; i < 8; i++) r->w[i] = t[i];
  if (not_below_p(r)) take_p(r);
}

__global__ void arithmetic(const u256 *__restrict__ a, const u256 *__restrict__ b, u256 *__restrict__ sums, u256 *__restrict__ products, u256 *__restrict__ inverses, int n)
{
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  mod_add(&sums[i], &a[i], &b[i]);
  mod_mul(&products[i], &a[i], &b[i]);

  // a to the power of P - 2
  u256 power = {{1}}, base = a[i], e = P;
  e.w[0] -= 2;
  for (int bit = 0; bit < 256; bit++) {
    if ((e.w[bit / 32] >> (bit % 32)) & 1) mod_mul(&power, &power, &base);
    mod_mul(&base, &base, &base);
  }
  inverses[i] = power;
}
