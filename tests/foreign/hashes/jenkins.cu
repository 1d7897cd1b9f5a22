// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <cuda.h>

// Jenkins' hash of keys of words: mix() twelve bytes at a time, and a switch for the remaining bytes.

#define rot(x,k) (((x)<<(k)) | ((x)>>(32-(k))))

#define mix(a,b,c) \
{ \
  a -= c;  a ^= rot(c, 4);  c += b; \
  b -= a;  b ^= rot(a, 6);  a += c; \
  c -= b;  c ^= rot(b, 8);  b += a; \
  a -= c;  a ^= rot(c,16);  c += b; \
  b -= a;  b ^= rot(a,19);  a += c; \
  c -= b;  c ^= rot(b, 4);  b += a; \
}

#define last(a,b,c) \
{ \
  c ^= b; c -= rot(b,14); \
  a ^= c; a -= rot(c,11); \
  b ^= a; b -= rot(a,25); \
  c ^= b; c -= rot(b,16); \
  a ^= c; a -= rot(c,4);  \
  b ^= a; b -= rot(a,14); \
  c ^= b; c -= rot(b,24); \
}

__device__ unsigned int
hash_word_key( const unsigned int *k, size_t length, unsigned int initval)
{
  unsigned int a,b,c;

  a = b = c = 0xdeadbeef + (((unsigned int)length)<<2) + initval;

  while (length > 3) {
    a += k[0];
    b += k[1];
    c += k[2];
    mix(a,b,c);
    length -= 3;
    k += 3;
  }

  switch(length) {
    case 3 : c+=k[2];
    case 2 : b+=k[1];
    case 1 : a+=k[0];
      last(a,b,c);
    case 0:
      break;
  }
  return c;
}

__global__ void hash_all (
  const unsigned int *__restrict__ keys,
  const unsigned int *__restrict__ lengths,
  const unsigned int *__restrict__ initvals,
        unsigned int *__restrict__ out,
  const int N )
{
  unsigned int id = blockDim.x*blockIdx.x+threadIdx.x;
  if (id >= N) return;
  out[id] = hash_word_key(keys+id*16, lengths[id], initvals[id]);
}
