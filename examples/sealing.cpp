// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Memory that no fault can damage: a kernel writes where it must not, its worker dies, and the next one continues.
#include <cstdio>
#include <troupe/device/sealing.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

int failed(const char* what) { return std::fprintf(stderr, "sealing: %s\n", what), 1; }

constexpr const char* broken = R"(
__global__ void scribble(const float* x) { const_cast<float*>(x)[0] = -1.0f; }
)";

int main() {
  troupe::runtime rt;
  device gpu = rt.open_device();

  auto weights = gpu.alloc<float>(1000, {.sealable = true});  // it gets whole pages
  gpu.upload(weights, std::vector<float>(1000, 0.5f));
  if (auto sealed = seal(gpu, weights).get(); !sealed) return failed(sealed.error().to_string().c_str());

  auto refused = gpu.fill(weights, 1.0f).get();
  if (refused) return failed("a sealed buffer was written");
  std::printf("%s\n", refused.error().to_string().c_str());

  const jit::program program = jit::compile(gpu, {.source = broken});
  auto crash =
      gpu.ask(jit::launch{.kernel = program.kernel("scribble"), .grid = 1, .block = 1, .arguments = {weights}});
  auto lost = crash.get();
  if (lost) return failed("the kernel wrote into a sealed buffer");
  std::printf("%s\n", lost.error().to_string().c_str());

  auto values = gpu.download(weights).get();  // from the next worker
  if (!values || *values != std::vector<float>(1000, 0.5f)) return failed("the weights have changed");
  if (!unseal(gpu, weights).get() || !gpu.fill(weights, 1.0f).get())
    return failed("the buffer cannot be written after unseal");
  std::printf("all weights are unchanged, in generation %llu\n",
              static_cast<unsigned long long>(gpu.statistics().generation));
}
