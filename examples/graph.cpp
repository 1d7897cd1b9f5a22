// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <fstream>
#include <troupe/blas/blas.hpp>
#include <troupe/graph/graph.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

constexpr const char* source = R"(
__global__ void divide(const float* w, const float* by, float* v, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) v[i] = w[i] / *by;
}

__global__ void decide(const float* now, float* before, unsigned* tries, unsigned* again) {
  *tries -= 1;
  *again = fabsf(*now - *before) > 1e-6f * *now && *tries > 0;
  *before = *now;
}
)";

// Computes the largest eigenvalue of a matrix: v = a * v / |a * v| until |a * v| no longer changes, which the device
// decides.
struct power_iteration {
  buffer<float> a, norm;
  graph::graph steps;

  power_iteration(const device& gpu, extent n) : a(gpu.alloc<float>(n * n)), norm(gpu.alloc<float>(1)) {
    const jit::program program = jit::compile(gpu, {.source = source, .name = "power.cu"});
    const auto v = gpu.alloc<float>(n), w = gpu.alloc<float>(n), before = gpu.alloc<float>(1);
    const auto tries = gpu.alloc<std::uint32_t>(1), again = gpu.alloc<std::uint32_t>(1);

    graph::recorder rec(gpu, {.name = "power iteration"});
    rec.fill(v, 1);
    rec.fill(before, 0);
    rec.fill(norm, 0);
    rec.fill(tries, 1000);
    rec.fill(again, 1);
    rec.while_(again, [&](graph::recorder& body) {
      body.add(blas::gemv<float>{.a = a, .x = v, .y = w, .m = n, .n = n, .beta = 0}, "w = a v");
      body.add(blas::nrm2<float>{.x = w, .n = n, .result = norm}, "norm = |w|");
      body.add(jit::launch{.kernel = program.kernel("divide"),
                           .grid = kernel::blocks_for(n, 128),
                           .block = 128,
                           .arguments = {w, norm, inout(v), static_cast<int>(n.value())}},
               "v = w / |w|");
      body.add(jit::launch{.kernel = program.kernel("decide"),
                           .grid = 1,
                           .block = 1,
                           .arguments = {norm, inout(before), inout(tries), inout(again)}});
    });
    steps = rec.finish();  // keeps the program and all buffers
  }

  result<float> of(const device& gpu, const std::vector<float>& matrix) {
    gpu.upload(a, matrix);
    gpu.tell(graph::launch{.graph = steps});  // one request, however often the body runs
    const auto answer = gpu.download(norm).get();
    if (!answer) return answer.error();
    return answer->front();
  }
};

int main() {
  runtime rt;
  const device gpu = rt.open_device();
  constexpr std::size_t n = 64;
  power_iteration largest(gpu, n);
  std::ofstream("power.dot") << largest.steps.dot();

  bool right = true;
  for (const float top : {3.0f, 5.0f, 11.0f}) {
    std::vector<float> matrix(n * n);  // `top`, and 1 everywhere else on the diagonal
    for (std::size_t i = 0; i < n; ++i) matrix[i * n + i] = i == 0 ? top : 1;
    const auto found = largest.of(gpu, matrix);
    if (!found) {
      std::printf("%s\n", found.error().to_string().c_str());
      return 1;
    }
    std::printf("the largest eigenvalue is %.4f\n", *found);
    right &= std::abs(*found - top) < 1e-3f;
  }
  std::remove("power.dot");
  return right ? 0 : 1;
}
