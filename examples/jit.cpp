// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <numeric>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

// y = a * x + y, and the sum of y by blocks.
constexpr const char* source = R"(
#include "square.h"

__global__ void saxpy(float a, const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] += square(a) * x[i];
}

template <class T, int Threads>
__global__ void sum(const T* in, T* out, int n) {
  __shared__ T part[Threads];
  int i = blockIdx.x * Threads + threadIdx.x;
  part[threadIdx.x] = i < n ? in[i] : T(0);
  for (int step = Threads / 2; step > 0; step /= 2) {
    __syncthreads();
    if (threadIdx.x < step) part[threadIdx.x] += part[threadIdx.x + step];
  }
  if (threadIdx.x == 0) out[blockIdx.x] = part[0];
}
)";

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  const int n = 1000;

  const jit::program program =
      jit::compile(gpu, {.source = source,
                         .name = "saxpy.cu",
                         .kernels = {"saxpy", "sum<float, 256>"},
                         .headers = {{"square.h", "__device__ inline float square(float v) { return v * v; }"}}});

  std::vector<float> numbers(n);
  std::iota(numbers.begin(), numbers.end(), 0.0f);
  auto x = gpu.alloc<float>(n), y = gpu.alloc<float>(n);
  gpu.upload(x, numbers);
  gpu.fill(y, 1.0f);

  // No need to wait: launches follow the compiler and each other in order.
  const extent blocks = kernel::blocks_for(n, 256);
  auto partial = gpu.alloc<float>(blocks);
  gpu.tell(jit::launch{
      .kernel = program.kernel("saxpy"), .grid = blocks, .block = 256, .arguments = {2.0f, x, inout(y), n}});
  gpu.tell(jit::launch{
      .kernel = program.kernel("sum<float, 256>"), .grid = blocks, .block = 256, .arguments = {y, out(partial), n}});

  const auto parts = gpu.download(partial).get();  // an error anywhere above arrives here
  if (!parts) {
    std::printf("%s\n%s\n", parts.error().to_string().c_str(), program.log().get().value_or("").c_str());
    return 1;
  }
  const float total = std::accumulate(parts->begin(), parts->end(), 0.0f);
  std::printf("the sum of 4x + 1 for x below %d is %.0f\n", n, total);
  return total == 4.0f * 499500 + 1000 ? 0 : 1;
}
