// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Kernels in CUDA C++: saxpy, and sums by shared memory, by shuffles, and by dynamic shared memory.
#include <cmath>
#include <cstdio>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

constexpr const char* source = R"(
__global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = a * x[i] + y[i];
}

__global__ void sum_shared(const float* x, float* sums, int n) {
  __shared__ float part[256];
  int i = blockIdx.x * 256 + threadIdx.x;
  part[threadIdx.x] = i < n ? x[i] : 0.0f;
  __syncthreads();
  for (int step = 128; step > 0; step /= 2) {
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
    __syncthreads();
  }
  if (threadIdx.x == 0) sums[blockIdx.x] = part[0];
}

__global__ void sum_shuffle(const float* x, float* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0.0f;
  for (int step = 16; step > 0; step /= 2) v += __shfl_down_sync(0xffffffffu, v, step);
  if (threadIdx.x % 32 == 0) atomicAdd(total, v);
}

__global__ void reverse_blocks(const float* x, float* y) {
  extern __shared__ float kept[];
  int first = blockIdx.x * blockDim.x;
  kept[threadIdx.x] = x[first + threadIdx.x];
  __syncthreads();
  y[first + threadIdx.x] = kept[blockDim.x - 1 - threadIdx.x];
}
)";

task<result<int>> count_wrong(device gpu) {
  const int n = 10000, threads = 128, whole = n / threads * threads;
  std::vector<float> x(n), y(n);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i % 13);
    y[i] = static_cast<float>(i % 5);
  }
  jit::program program = jit::compile(gpu, {.source = source, .name = "own_kernels.cu"});
  co_await program.ready();

  auto dx = gpu.alloc<float>(n), dy = gpu.alloc<float>(n);
  co_await gpu.upload(dx, x);
  co_await gpu.upload(dy, y);
  co_await gpu.ask(jit::launch{.kernel = program.kernel("saxpy"),
                               .grid = kernel::blocks_for(n, 256),
                               .block = 256,
                               .arguments = {2.5f, dx, inout(dy), n}});
  int wrong = 0;
  float expected_sum = 0;
  const std::vector<float> sums_of = co_await gpu.download(dy);
  for (int i = 0; i < n; ++i) {
    y[i] = 2.5f * x[i] + y[i];
    wrong += sums_of[i] != y[i];
    expected_sum += y[i];  // all elements are multiples of 0.5, so sums are exact
  }

  const extent blocks = kernel::blocks_for(n, 256);
  auto sums = gpu.alloc<float>(blocks), total = gpu.alloc<float>(1, {.zeroed = true});
  co_await gpu.ask(jit::launch{
      .kernel = program.kernel("sum_shared"), .grid = blocks, .block = 256, .arguments = {dy, out(sums), n}});
  float by_shared = 0;
  for (const float part : co_await gpu.download(sums)) by_shared += part;
  wrong += by_shared != expected_sum;

  co_await gpu.ask(jit::launch{
      .kernel = program.kernel("sum_shuffle"), .grid = blocks, .block = 256, .arguments = {dy, inout(total), n}});
  wrong += (co_await gpu.download(total)).front() != expected_sum;

  auto turned = gpu.alloc<float>(n, {.zeroed = true});
  co_await gpu.ask(jit::launch{.kernel = program.kernel("reverse_blocks"),
                               .grid = whole / threads,
                               .block = threads,
                               .shared_bytes = threads * sizeof(float),
                               .arguments = {dx, inout(turned)}});
  const std::vector<float> back = co_await gpu.download(turned);
  for (int i = 0; i < n; ++i) {
    const float expected = i < whole ? x[i / threads * threads + threads - 1 - i % threads] : 0.0f;
    wrong += back[i] != expected;
  }
  co_return wrong;
}

int main() {
  runtime rt;
  const auto wrong = sync_wait(count_wrong(rt.open_device()));
  if (!wrong) return std::fprintf(stderr, "own_kernels: %s\n", wrong.error().to_string().c_str()), 1;
  std::printf("%d wrong values\n", *wrong);
  return *wrong == 0 ? 0 : 1;
}
