// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Measures what kernels on the processor cost compared to plain loops by the same compiler: the best of several runs,
// on one thread and on all. It is not a test, because times on a busy machine prove nothing. Run it by hand:
// build/release/bin/troupe_kernel_measure
#include <algorithm>
#include <cstdio>
#include <limits>
#include <troupe/base/clock.hpp>

#include "compiled.hpp"

using namespace troupe;
using namespace troupe::cuda_on_host;
using namespace troupe::cuda_on_host::testing;

namespace {

template <class F>
double best_ns(int runs, F f) {
  double best = std::numeric_limits<double>::max();
  for (int i = 0; i < runs; ++i) {
    const std::int64_t begin = now_ns();
    f();
    best = std::min(best, static_cast<double>(now_ns() - begin));
  }
  return best;
}

void launch(launcher& l, const loaded_kernel* k, dim grid, dim block, void* const* arguments) {
  if (auto done = l.launch(*k, grid, block, 0, arguments); !done) std::puts(done.error().to_string().c_str());
}

// Compiled with the same options as kernels.
const char* const plain_loops = R"(
extern "C" __attribute__((visibility("default"))) void plain_saxpy(int n, float a, const float* __restrict__ x, float* __restrict__ y) {
  for (int i = 0; i < n; ++i) y[i] = a * x[i] + y[i];
}
extern "C" __attribute__((visibility("default"))) void plain_matmul(const float* __restrict__ a, const float* __restrict__ b, float* __restrict__ c, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      float sum = 0;
      for (int k = 0; k < n; ++k) sum += a[i * n + k] * b[k * n + j];
      c[i * n + j] = sum;
    }
}
typedef void (*saxpy_function)(int, float, const float*, float*);
typedef void (*matmul_function)(const float*, const float*, float*, int);
extern "C" __global__ void addresses(saxpy_function* s, matmul_function* m) { *s = plain_saxpy; *m = plain_matmul; }
)";

void measure_saxpy(launcher& one, launcher& all, void (*plain)(int, float, const float*, float*)) {
  const loaded_image image = load(compile_file("saxpy.cu", {}));
  for (int n : {10'000'000, 20'000}) {
    std::vector<float> x(static_cast<std::size_t>(n), 1.0f), y(x.size(), 2.0f);
    float a = 0.5f, *px = x.data(), *py = y.data();
    void* arguments[] = {&n, &a, &px, &py};
    const dim grid{static_cast<std::uint32_t>((n + 255) / 256)};
    const double kernel = best_ns(50, [&] { launch(one, image.find_kernel("saxpy"), grid, {256}, arguments); });
    const double together = best_ns(50, [&] { launch(all, image.find_kernel("saxpy"), grid, {256}, arguments); });
    const double loop = best_ns(50, [&] { plain(n, a, px, py); });
    std::printf("saxpy of %d: %.0f us on one thread, %.0f us on all, %.0f us as a plain loop on one\n", n, kernel / 1e3,
                together / 1e3, loop / 1e3);
  }
  const double empty = best_ns(50, [&] {
    for (int i = 0; i < 1000; ++i) launch(all, image.find_kernel("nothing"), {1}, {256}, nullptr);
  });
  std::printf("launch of an empty kernel with one block: %.0f ns\n", empty / 1000);
}

void measure_matmul(launcher& one, launcher& all, void (*plain)(const float*, const float*, float*, int)) {
  const std::vector<loaded_image> images = both_ways("matmul.cu", {"matmul<16>", "matmul<32>"});
  int n = 512;
  std::vector<float> a(static_cast<std::size_t>(n) * 512, 1.0f), b(a), c(a);
  float *pa = a.data(), *pb = b.data(), *pc = c.data();
  void* arguments[] = {&pa, &pb, &pc, &n};
  const double loop = best_ns(3, [&] { plain(pa, pb, pc, n); });
  for (const unsigned tile : {16u, 32u}) {
    const std::string name = "matmul<" + std::to_string(tile) + ">";
    const dim grid{512 / tile, 512 / tile}, block{tile, tile};
    const double split = best_ns(10, [&] { launch(one, images[0].find_kernel(name), grid, block, arguments); });
    const double together = best_ns(10, [&] { launch(all, images[0].find_kernel(name), grid, block, arguments); });
    const double fibers = best_ns(3, [&] { launch(one, images[1].find_kernel(name), grid, block, arguments); });
    std::printf(
        "%s of 512: %.1f ms split on one thread (%.0f GFLOP/s), %.1f ms on all, %.0f ms as fibers, %.0f ms as three "
        "plain loops\n",
        name.c_str(), split / 1e6, 2.0 * n * n * n / split, together / 1e6, fibers / 1e6, loop / 1e6);
  }
}

void measure_waiting(launcher& one) {
  const loaded_image image = load_text(R"(
extern "C" __global__ void barriers(int n) { for (int i = 0; i < n; ++i) __syncthreads(); __syncwarp(); }
extern "C" __global__ void shuffles(int n) { int v = threadIdx.x; for (int i = 0; i < n; ++i) v += __shfl_xor_sync(~0u, v, 1); assert(v != 1); }
)");
  int n = 1000;
  void* arguments[] = {&n};
  for (const unsigned threads : {32u, 256u, 1024u})
    for (const char* kernel : {"barriers", "shuffles"}) {
      const double time = best_ns(10, [&] { launch(one, image.find_kernel(kernel), {1}, {threads}, arguments); });
      std::printf("%s in fibers, block of %u: %.0f ns for each thread and operation\n", kernel, threads,
                  time / n / threads);
    }
}

}  // namespace

int main() {
  launcher one(1), all;
  const loaded_image plain = load_text(plain_loops);
  void (*saxpy)(int, float, const float*, float*) = nullptr;
  void (*matmul)(const float*, const float*, float*, int) = nullptr;
  void *at[] = {&saxpy, &matmul}, *arguments[] = {&at[0], &at[1]};
  launch(one, plain.find_kernel("addresses"), {1}, {1}, arguments);
  measure_saxpy(one, all, saxpy);
  measure_matmul(one, all, matmul);
  measure_waiting(one);
}
