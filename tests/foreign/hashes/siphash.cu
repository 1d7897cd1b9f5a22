// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdint.h>
#include <stdio.h>
#include <string.h>

/* SipHash-2-4 of edges, four ends at once as lanes of a vector, as in searches for cycles; and of texts. */

typedef uint64_t u64;

struct siphash_keys { u64 k0, k1; };

class siphash_state {
public:
  u64 v0, v1, v2, v3;

  __device__ siphash_state(const siphash_keys &sk) {
    v0 = 0x736f6d6570736575ULL ^ sk.k0;
    v1 = 0x646f72616e646f6dULL ^ sk.k1;
    v2 = 0x6c7967656e657261ULL ^ sk.k0;
    v3 = 0x7465646279746573ULL ^ sk.k1;
  }
  template <int by>
  __device__ static u64 rotl(u64 x) {
    return (x << by) | (x >> (64 - by));
  }
  __device__ void sip_round() {
    v0 += v1; v2 += v3; v1 = rotl<13>(v1); v3 = rotl<16>(v3);
    v1 ^= v0; v3 ^= v2; v0 = rotl<32>(v0);
    v2 += v1; v0 += v3; v1 = rotl<17>(v1); v3 = rotl<21>(v3);
    v1 ^= v2; v3 ^= v0; v2 = rotl<32>(v2);
  }
  __device__ void take(const u64 word) {
    v3 ^= word;
    sip_round(); sip_round();
    v0 ^= word;
  }
  __device__ u64 result() {
    v2 ^= 0xff;
    for (int i = 0; i < 4; i++) sip_round();
    return (v0 ^ v1) ^ (v2 ^ v3);
  }
};

__global__ void ends_of_edges(const siphash_keys keys, ulonglong4 *__restrict__ ends, u64 mask, int count) {
  const int group = blockIdx.x * blockDim.x + threadIdx.x;
  const int nthreads = blockDim.x * gridDim.x;
  for (int i = group; i < count; i += nthreads) {
    u64 lanes[4];
    for (int l = 0; l < 4; l++) {
      siphash_state state(keys);
      state.take(4 * (u64)i + l);
      state.take((u64)8 << 56);
      lanes[l] = state.result() & mask;
    }
    ends[i] = make_ulonglong4(lanes[0], lanes[1], lanes[2], lanes[3]);
  }
}

__global__ void texts(const siphash_keys *__restrict__ keys, const unsigned char *__restrict__ text, const int length, u64 *__restrict__ out) {
  text += threadIdx.x;     // each thread hashes from its position to the end
  out += threadIdx.x;
  int left = length - threadIdx.x;
  siphash_state state(*keys);
  for (; left >= 8; left -= 8, text += 8) {
    u64 word = 0;
    for (int i = 0; i < 8; i++) word |= (u64)text[i] << (8 * i);
    state.take(word);
  }
  u64 rest = (u64)(length - threadIdx.x) << 56;
  while (left-- > 0) rest |= (u64)text[left] << (8 * left);
  state.take(rest);
  *out = state.result();
}
