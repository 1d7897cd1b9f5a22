// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
/*
 * Options by simulation: a generator of our own instead of a library's, sums and sums of squares by trees, one block for
 * each option, whose data lie in constant memory.
 */
#include <stdio.h>
#include <math.h>
#include <cuda_runtime.h>
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

namespace cg = cooperative_groups;

#define MAX_OPTIONS 64
#define THREADS 128
typedef float real;

typedef struct
{
    real spot;
    real strike;
    real drift;
    real spread;
} OptionData;

static __constant__ OptionData options[MAX_OPTIONS];

// A generator for each thread: a linear congruence, and Box and Muller's transform
class Generator {
  unsigned long long state;

 public:
  __device__ Generator(unsigned long long seed, unsigned int stream) : state(seed ^ (stream * 0x9E3779B97F4A7C15ULL)) {
    for (int i = 0; i < 4; ++i) uniform();
  }
  __device__ float uniform() {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    return ((unsigned int)(state >> 40) + 0.5f) * (1.0f / 16777216.0f);
  }
  __device__ float2 normal2() {
    const float r = sqrtf(-2.0f * logf(uniform()));
    float s, c;
    sincospif(2.0f * uniform(), &s, &c);
    return make_float2(r * c, r * s);
  }
};

__device__ inline float payoff(float spot, float strike, float r, float drift, float spread) {
  return fmaxf(spot * __expf(drift + spread * r) - strike, 0.0F);
}

template <class T, int blockSize>
__device__ void sumOfBlock(T *sum, T *sum2, cg::thread_block &cta, cg::thread_block_tile<32> &tile32, T &total, T &total2) {
  const int w = tile32.meta_group_rank();
  const T a = cg::reduce(tile32, total, cg::plus<T>()), b = cg::reduce(tile32, total2, cg::plus<T>());
  if (tile32.thread_rank() == 0) {
    sum[w] = a;
    sum2[w] = b;
  }
  cg::sync(cta);
  if (cta.thread_rank() == 0) {
    total = total2 = 0;
    for (int i = 0; i < blockSize / 32; i++) {
      total += sum[i];
      total2 += sum2[i];
    }
  }
}

static __global__ void simulate(float2 *__restrict__ values, unsigned long long seed, int paths) {
  cg::thread_block cta = cg::this_thread_block();
  cg::thread_block_tile<32> tile32 = cg::tiled_partition<32>(cta);
  __shared__ real sums[THREADS / 32];
  __shared__ real squares[THREADS / 32];

  const OptionData option = options[blockIdx.x];
  Generator random(seed, blockIdx.x * blockDim.x + threadIdx.x);
  real sum = 0, sum2 = 0;
  for (int i = threadIdx.x; i < paths / 2; i += THREADS) {
    const float2 r = random.normal2();
    const real one = payoff(option.spot, option.strike, r.x, option.drift, option.spread);
    const real two = payoff(option.spot, option.strike, r.y, option.drift, option.spread);
    sum += one + two;
    sum2 += one * one + two * two;
  }
  sumOfBlock<real, THREADS>(sums, squares, cta, tile32, sum, sum2);
  if (threadIdx.x == 0) values[blockIdx.x] = {sum / paths, sum2 / paths};
}
