// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A program linked from several parts. On a GPU: example_linked cuda.
#include <cstdio>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

constexpr const char* distances = R"(
__device__ float distance(float a, float b) { return a < b ? b - a : a - b; }
)";
constexpr const char* weights = R"(
__device__ float weight(int i) { return 1.0f / (1 + i); }
)";
constexpr const char* kernels = R"(
__device__ float distance(float, float);
__device__ float weight(int);

__global__ void weigh(const float* a, const float* b, float* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = weight(i) * distance(a[i], b[i]);
}
)";

int failed(const error& e) {
  // The host engine makes a program from one source only.
  std::printf("%s\n", e.to_string().c_str());
  return e.reaction() == reaction::unsupported ? 0 : 1;
}

int main(int argc, char** argv) {
  runtime rt;
  const device gpu = rt.open_device({.engine = argc > 1 ? argv[1] : "host"});
  const int n = 1000;

  // Compiled once, for many programs. To LTO IR, because of link_time_optimisation.
  const jit::program library = jit::compile(
      gpu, {.source = distances, .name = "distances.cu", .relocatable = true, .link_time_optimisation = true});
  const auto image = library.image().get();
  if (!image) return failed(image.error());

  const jit::program program =
      jit::compile(gpu, {.source = kernels,
                         .name = "kernels.cu",
                         .units = {{.name = "distances", .image = *image}, {.name = "weights.cu", .source = weights}},
                         .link_time_optimisation = true});

  auto a = gpu.alloc<float>(n), b = gpu.alloc<float>(n), out = gpu.alloc<float>(n);
  gpu.fill(a, 1.0f);
  gpu.fill(b, 3.0f);
  gpu.tell(jit::launch{.kernel = program.kernel("weigh"),
                       .grid = kernel::blocks_for(n, 256),
                       .block = 256,
                       .arguments = {a, b, troupe::out(out), n}});
  const auto got = gpu.download(out).get();
  if (!got) return failed(got.error());
  std::printf("the first three are %.3f, %.3f and %.3f\n", (*got)[0], (*got)[1], (*got)[2]);
  return (*got)[0] == 2.0f && (*got)[1] == 1.0f ? 0 : 1;
}
