// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// On the first GPU, or on the host engine if no GPU can be used: a broken kernel, and what is known about the fault.
// For docs/gpu.md and docs/gpu-faults.md.
#include <chrono>
#include <cstdio>
#include <troupe/device/sealing.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;
using namespace std::chrono_literals;

int failed(const char* what, const error& why) {
  return std::fprintf(stderr, "gpu: %s: %s\n", what, why.to_string().c_str()), 1;
}

device open_best(troupe::runtime& rt) {
  device gpu = rt.open_device({.engine = "cuda", .ordinal = 0, .run_timeout = 10s});
  const auto up = gpu.started().get();
  if (up || up.error().reaction() != reaction::unsupported) return gpu;  // it works, or is broken and must be examined
  std::printf("on the host: %s\n", up.error().text().c_str());
  return rt.open_device({.run_timeout = 10s});
}

constexpr const char* kernels = R"(
__global__ void wild() { *reinterpret_cast<volatile int*>(16) = 1; }
__global__ void twice(float* x, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) x[i] *= 2;
}
)";

int main() {
  troupe::runtime rt;
  const device gpu = open_best(rt);
  if (auto up = gpu.started().get(); !up) return failed("start", up.error());
  const device_hardware what = gpu.statistics().hardware;
  std::printf("%s, %u processors, %.1f GiB\n", what.model.c_str(), what.processors,
              static_cast<double>(what.total_bytes) / (1 << 30));

  const int n = 1000;
  const jit::program program = jit::compile(gpu, {.source = kernels});
  auto weights = gpu.alloc<float>(n, {.sealable = true}), x = gpu.alloc<float>(n);
  gpu.upload(weights, std::vector<float>(n, 21.0f));
  if (auto sealed = seal(gpu, weights).get(); !sealed) return failed("seal", sealed.error());

  auto crash = gpu.ask(jit::launch{.kernel = program.kernel("wild"), .grid = 1, .block = 1}).get();
  if (crash || crash.error().reaction() != reaction::context_lost) return std::fprintf(stderr, "gpu: no fault\n"), 1;
  const auto fault = gpu.last_fault();
  std::printf("%s", fault->text().c_str());

  // The next worker has the weights, and remakes the program by itself.
  gpu.copy(x, weights);
  gpu.tell(jit::launch{
      .kernel = program.kernel("twice"), .grid = kernel::blocks_for(n, 256), .block = 256, .arguments = {inout(x), n}});
  const auto y = gpu.download(x).get();
  if (!y) return failed("after the fault", y.error());
  return (*y)[n - 1] == 42.0f ? 0 : 1;
}
