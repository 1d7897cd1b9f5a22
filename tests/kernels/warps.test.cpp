// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Behavior that CUDA does not specify but sources rely on: the expected values are those of an H200.
#include <algorithm>
#include <numeric>

#include "compiled.hpp"

namespace troupe::cuda_on_host::testing {

namespace {

// Runs `k(int* y, const int* x)` with as many threads as x has elements.
std::vector<int> run_k(const loaded_image& image, std::vector<int> x, std::size_t results = 0) {
  std::vector<int> y(results == 0 ? x.size() : results, -1);
  run(image, "k", {1}, {static_cast<std::uint32_t>(x.size())}, 8192, y.data(), static_cast<const int*>(x.data()));
  return y;
}

std::vector<int> count_from(int first, std::size_t n) {
  std::vector<int> out(n);
  std::iota(out.begin(), out.end(), first);
  return out;
}

std::vector<int> numbers(std::size_t n) {
  std::vector<int> out;
  for (std::size_t i = 0; i < n; ++i) out.push_back(static_cast<int>((i * 7919 + 13) % 101) - 30);
  return out;
}

}  // namespace

TEST(warps, a_shuffle_reads_zero_from_lanes_that_have_ended) {
  for (const std::string leaves : {"if (threadIdx.x >= 16) return;", "if (threadIdx.x < 16)"}) {
    const std::vector<int> y = run_k(load_text(R"(
extern "C" __global__ void k(int* y, const int* x) {
  int v = x[threadIdx.x];
  )" + leaves + R"(
  {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffffffffu, v, offset);
    y[threadIdx.x] = v;
  }
})"),
                                     count_from(0, 32));
    EXPECT_EQ(y[0], 120) << leaves;
  }
}

TEST(warps, a_shuffle_reads_zero_from_lanes_that_are_somewhere_else) {
  const std::vector<int> y = run_k(load_text(R"(
extern "C" __global__ void k(int* y, const int* x) {
  int v = x[threadIdx.x], mine = v;
  if (threadIdx.x < 8) {
    for (int offset = 16; offset > 0; offset /= 2) v += __shfl_down_sync(0xffu, v, offset);
  }
  y[threadIdx.x] = v;
  y[32 + threadIdx.x] = __shfl_xor_sync(0xffffffffu, mine, 31);
})"),
                                   count_from(1, 32), 64);
  EXPECT_EQ(y[0], 36);
  for (int t = 8; t < 32; ++t) EXPECT_EQ(y[static_cast<std::size_t>(t)], t + 1);
  for (int t = 0; t < 32; ++t) EXPECT_EQ(y[static_cast<std::size_t>(32 + t)], 32 - t);
}

TEST(warps, a_shuffle_reads_lanes_outside_of_its_mask_that_are_in_the_same_shuffle) {
  const std::vector<int> y = run_k(load_text(R"(
extern "C" __global__ void k(int* y, const int* x) {
  unsigned mask = 0xffu << (threadIdx.x / 8 * 8);
  int v = __shfl_down_sync(mask, x[threadIdx.x], 8);
  y[threadIdx.x] = v + 1000 * __shfl_sync(mask, x[threadIdx.x], 3);
})"),
                                   count_from(0, 32));
  for (int t = 0; t < 32; ++t) EXPECT_EQ(y[static_cast<std::size_t>(t)], (t < 24 ? t + 8 : t) + 3000) << t;
}

TEST(warps, votes_count_active_threads_only) {
  const std::vector<int> y = run_k(load_text(R"(
extern "C" __global__ void k(int* y, const int* x) {
  if (threadIdx.x < 20) {
    y[threadIdx.x] = __popc(__ballot_sync(0xffffffffu, x[threadIdx.x] > 10)) * 100 +
                     __all_sync(0xffffffffu, x[threadIdx.x] < 20) * 10 + __any_sync(0xffffffffu, x[threadIdx.x] > 25);
  }
})"),
                                   count_from(0, 32));
  for (std::size_t t = 0; t < 20; ++t) EXPECT_EQ(y[t], 9 * 100 + 10);
}

// The last of the reductions in cuda-samples: it shuffles with the mask of a ballot, and reads beyond that mask.
TEST(warps, a_reduction_by_shuffles_is_right_for_blocks_of_all_sizes) {
  const loaded_image image = load_text(R"(
#include <cooperative_groups.h>
namespace cg = cooperative_groups;
__device__ __forceinline__ int of_warp(unsigned mask, int sum) {
  for (int offset = warpSize / 2; offset > 0; offset /= 2) sum += __shfl_down_sync(mask, sum, offset);
  return sum;
}
extern "C" __global__ void k(int* y, const int* x) {
  extern __shared__ int part[];
  cg::thread_block block = cg::this_thread_block();
  const unsigned t = threadIdx.x, size = blockDim.x;
  unsigned length = size & 31;
  length = length > 0 ? 32 - length : length;
  const unsigned mask = 0xffffffff >> length;
  int sum = of_warp(mask, x[t]);
  if (t % warpSize == 0) part[t / warpSize] = sum;
  cg::sync(block);
  const unsigned warps = size / warpSize > 0 ? size / warpSize : 1;
  const unsigned voted = __ballot_sync(mask, t < warps);
  if (t < warps) {
    sum = part[t];
    sum = of_warp(voted, sum);
  }
  if (t == 0) y[0] = sum;
}
)");
  for (const std::size_t size : {1u, 2u, 4u, 8u, 16u, 32u, 64u, 128u, 256u, 512u, 1024u}) {
    const std::vector<int> x = numbers(size);
    EXPECT_EQ(run_k(image, x, 1)[0], std::accumulate(x.begin(), x.end(), 0)) << size;
  }
}

TEST(warps, a_final_warp_reduction_may_rely_on_volatile_memory) {
  const std::pair<const char*, const char*> ways[] = {
      {R"(
__device__ void of_warp(volatile int* s, unsigned t) {
  s[t] += s[t + 32];
  s[t] += s[t + 16];
  s[t] += s[t + 8];
  s[t] += s[t + 4];
  s[t] += s[t + 2];
  s[t] += s[t + 1];
})",
       "if (t < 32) of_warp(s, t);"},
      {R"(
template <unsigned Size, class T>
__device__ void of_warp(volatile T* s, unsigned t) {
  if (Size >= 64) s[t] = s[t] + s[t + 32];
  if (Size >= 32) s[t] = s[t] + s[t + 16];
  if (Size >= 16) s[t] = s[t] + s[t + 8];
  if (Size >= 8) s[t] = s[t] + s[t + 4];
  if (Size >= 4) s[t] = s[t] + s[t + 2];
  if (Size >= 2) s[t] = s[t] + s[t + 1];
})",
       "if (t < 32) of_warp<64>(s, t);"},
      {"", R"(
  if (t < 32) {
    volatile int* v = s;
    int mine = v[t];
    v[t] = mine = mine + v[t + 32];
    v[t] = mine = mine + v[t + 16];
    v[t] = mine = mine + v[t + 8];
    v[t] = mine = mine + v[t + 4];
    v[t] = mine = mine + v[t + 2];
    v[t] = mine = mine + v[t + 1];
  })"},
      {"", R"(
  if (t < 32) {
    volatile int* v = s;
    for (int offset = 32; offset > 0; offset /= 2)
      if (t < offset) v[t] += v[t + offset];
  })"},
  };
  for (const auto& [before, tail] : ways) {
    const loaded_image image = load_text(std::string(before) + R"(
extern "C" __global__ void k(int* y, const int* x) {
  __shared__ int s[1024];
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 32; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  )" + tail + R"(
  if (t == 0) y[0] = s[0];
})");
    for (const std::size_t size : {64u, 256u}) {
      const std::vector<int> x = numbers(size);
      EXPECT_EQ(run_k(image, x, 1)[0], std::accumulate(x.begin(), x.end(), 0)) << size << before << tail;
    }
  }
}

TEST(warps, a_scan_may_rely_on_volatile_memory) {
  const loaded_image image = load_text(R"(
__device__ int scan(volatile int* s, int value) {
  const int lane = threadIdx.x & 31;
  s[threadIdx.x] = value;
  if (lane >= 1) s[threadIdx.x] += s[threadIdx.x - 1];
  if (lane >= 2) s[threadIdx.x] += s[threadIdx.x - 2];
  if (lane >= 4) s[threadIdx.x] += s[threadIdx.x - 4];
  if (lane >= 8) s[threadIdx.x] += s[threadIdx.x - 8];
  if (lane >= 16) s[threadIdx.x] += s[threadIdx.x - 16];
  return s[threadIdx.x];
}
extern "C" __global__ void k(int* y, const int* x) {
  __shared__ int s[96];
  y[threadIdx.x] = scan(s, x[threadIdx.x]);
}
)");
  const std::vector<int> x = numbers(96), y = run_k(image, x);
  for (std::size_t i = 0, sum = 0; i < x.size(); ++i) {
    sum = i % 32 == 0 ? static_cast<std::size_t>(x[i]) : sum + static_cast<std::size_t>(x[i]);
    EXPECT_EQ(y[i], static_cast<int>(sum)) << i;
  }
}

// A pipeline of filters, as in cuSignal and HeCBench: each thread reads what the thread before it wrote one step
// earlier, with a single barrier per step.
TEST(warps, threads_read_from_shared_memory_before_their_warp_writes_there) {
  const std::string stages = R"(
  int mine = 0, state = 0;
  for (int n = 0; n < 40; ++n) {
    if (t == 0) {
      mine = x[n % blockDim.x];
    } else {
      mine = stage[t - 1];
    }
    mine = 3 * mine + state;
    state = mine % 7;
    if (t + 1 < blockDim.x) {
      stage[t] = mine % 1000;
    } else {
      y[n] = mine;
    }
    __syncthreads();
  })";
  const std::string sources[] = {
      R"(
extern "C" __global__ void k(int* y, const int* x) {
  extern __shared__ char memory[];
  int* stage = reinterpret_cast<int*>(memory);
  const int t = threadIdx.x;
  stage[t] = 0;
  __syncthreads();)" +
          stages + "}",
      R"(
template <class T>
__device__ void filter(int* y, const int* x, T* memory) {
  T* stage { memory };
  const int t = threadIdx.x;
  stage[t] = 0;
  __syncthreads();)" +
          stages + R"(
}
extern "C" __global__ void k(int* y, const int* x) {
  extern __shared__ int memory[];
  filter(y, x, memory);
})"};
  const std::vector<int> x = numbers(32);
  std::vector<int> want, stage(32), state(32);
  for (std::size_t n = 0; n < 40; ++n) {
    std::vector<int> next = stage;
    for (std::size_t t = 0; t < 32; ++t) {
      const int mine = 3 * (t == 0 ? x[n % 32] : stage[t - 1]) + state[t];
      state[t] = mine % 7;
      if (t + 1 < 32)
        next[t] = mine % 1000;
      else
        want.push_back(mine);
    }
    stage = next;
  }
  for (const std::string& source : sources)
    for (const bool only_fibers : {false, true})
      EXPECT_EQ(run_k(load_text(source, {.only_fibers = only_fibers}), x, 40), want) << source;
}

// The tail of a reduction with one barrier per step: a lane reads what a higher lane is about to overwrite.
TEST(warps, lanes_continue_in_ascending_order_after_a_barrier) {
  const std::string sources[] = {R"(
extern "C" __global__ void k(int* y, const int* x) {
  __shared__ int s[64];
  const int t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  if (t < 32) {
    s[t] += s[t + 32]; __syncwarp();
    s[t] += s[t + 16]; __syncwarp();
    s[t] += s[t + 8]; __syncwarp();
    s[t] += s[t + 4]; __syncwarp();
    s[t] += s[t + 2]; __syncwarp();
    s[t] += s[t + 1]; __syncwarp();
  }
  if (t == 0) y[0] = s[0];
})",
                                 R"(
extern "C" __global__ void k(int* y, const int* x) {
  __shared__ int s[128];
  const int t = threadIdx.x;
  s[t] = x[t];
  s[t + 64] = 0;
  for (int step = 32; step > 0; step /= 2) {
    __syncthreads();
    s[t] += s[t + step];
  }
  if (t == 0) y[0] = s[0];
})"};
  const std::vector<int> x = numbers(64);
  for (const std::string& source : sources)
    for (const bool only_fibers : {false, true})
      EXPECT_EQ(run_k(load_text(source, {.only_fibers = only_fibers}), x, 1)[0], std::accumulate(x.begin(), x.end(), 0))
          << source;
}

// The lanes of an inner barrier wait until the others of their warp have come as far as they can.
TEST(warps, lanes_continue_in_ascending_order_even_if_some_have_met_before) {
  const std::vector<int> x = count_from(1, 32);
  EXPECT_EQ(run_k(load_text(R"(
extern "C" __global__ void k(int* y, const int* x) {
  __shared__ int s[33];
  const int t = threadIdx.x;
  s[t] = x[t];
  if (t == 0) s[32] = 33;
  if (t < 16) __syncwarp(0xffffu);
  __syncwarp();
  s[t] = s[t + 1];
  y[t] = s[t];
})"),
                  x),
            count_from(2, 32));
}

TEST(warps, volatile_memory_with_proper_barriers_needs_no_fibers) {
  const compiled c = compile_text(R"(
extern "C" __global__ void k(int* y, const int* x) {
  volatile __shared__ int s[256];
  const unsigned t = threadIdx.x;
  s[t] = x[t];
  __syncthreads();
  for (unsigned half = blockDim.x / 2; half > 0; half /= 2) {
    if (t < half) s[t] += s[t + half];
    __syncthreads();
  }
  if (t == 0) y[0] = s[0];
})",
                                  {});
  EXPECT_TRUE(c.how("k").starts_with("split")) << c.how("k");
  const std::vector<int> x = numbers(256);
  EXPECT_EQ(run_k(load(c), x, 1)[0], std::accumulate(x.begin(), x.end(), 0));
}

}  // namespace troupe::cuda_on_host::testing
