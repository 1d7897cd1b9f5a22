// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <stdint.h>
#include <string.h>
#include <cuda.h>

// PRESENT, a small cipher: blocks of 8 bytes, a key of 10, 31 rounds. A formula permutes the bits.
__device__ const uint8_t sBox4[] = {
  0xc,0x5,0x6,0xb,0x9,0x0,0xa,0xd,0x3,0xe,0xf,0x8,0x4,0x7,0x1,0x2
};

__device__ static void next_key(uint8_t *bytes, const uint32_t round)
{
  uint8_t *const key = bytes, old[10];
  for (int i = 0; i < 10; i++) old[i] = key[i];
  // 61 bits to the left; key[0] is the highest byte
  for (int i = 0; i < 10; i++) key[i] = (old[(i + 7) % 10] << 5) | (old[(i + 8) % 10] >> 3);
  key[0] = (sBox4[key[0] >> 4] << 4) | (key[0] & 0xF);
  key[7] ^= round >> 1;
  key[8] ^= (round & 1) << 7;
}

__device__ static void permute(uint8_t *state)
{
  uint8_t moved[8] = {0};
  for (uint32_t i = 0; i < 64; i++) {
    const uint32_t to = i < 63 ? (16 * i) % 63 : 63;
    if ((state[7 - i / 8] >> (i % 8)) & 1) moved[7 - to / 8] |= 1 << (to % 8);
  }
  memcpy(state, moved, sizeof moved);
}

__global__ void present_rounds (
  const uint8_t *__restrict__ plain,
  const uint8_t *__restrict__ key,
        uint8_t *__restrict__ cipher,
  const int num)
{
  const int gid = blockIdx.x * blockDim.x + threadIdx.x;
  if (gid >= num) return;
  plain += gid * 8;
  cipher += gid * 8;

  uint8_t state[8], round_key[10];
  memcpy(state, plain, 8);
  memcpy(round_key, key, 10);
  for (uint32_t round = 1; round <= 31; round++) {
    for (uint8_t *s = state, *k = round_key; s < state + 8; ) {
      *s ^= *k++;
      *s = (sBox4[*s >> 4] << 4) | sBox4[*s & 0xF];
      s++;
    }
    permute(state);
    next_key(round_key, round);
  }
  for (int i = 0; i < 8; i++) cipher[i] = state[i] ^ round_key[i];
}
