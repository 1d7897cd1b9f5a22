// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// What barriers cost: a product by tiles in shared memory, whose kernel is split at its barriers, compared with the
// same kernel run with a stack for each thread, as it runs if a barrier is inside a function.
#include <bench/device_under_test.hpp>
#include <bench/host/jit_kernels.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <cmath>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>

namespace troupe::bench {
namespace {

constexpr int n = 512;

// BARRIER is __syncthreads(), or a function that calls it.
constexpr const char* source = R"(
__device__ void meet() { __syncthreads(); }

template <int Tile>
__global__ void product(const float* a, const float* b, float* c, int n) {
  __shared__ float as[Tile][Tile], bs[Tile][Tile];
  int row = blockIdx.y * Tile + threadIdx.y, column = blockIdx.x * Tile + threadIdx.x;
  float sum = 0;
  for (int tile = 0; tile < n / Tile; ++tile) {
    as[threadIdx.y][threadIdx.x] = a[row * n + tile * Tile + threadIdx.x];
    bs[threadIdx.y][threadIdx.x] = b[(tile * Tile + threadIdx.y) * n + column];
    BARRIER;
    for (int k = 0; k < Tile; ++k) sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
    BARRIER;
  }
  c[row * n + column] = sum;
}
)";

class products {
 public:
  products(const device& gpu, int tile, const char* barrier, const buffer<float>& a, const buffer<float>& b)
      : gpu_(gpu),
        name_(cat("product<", tile, ">")),
        program_(jit::compile(
            gpu, {.source = source, .name = "product.cu", .kernels = {name_}, .definitions = {{"BARRIER", barrier}}})),
        c_(gpu.alloc<float>(n * n)),
        request_{.kernel = program_.kernel(name_),
                 .grid = {n / tile, n / tile},
                 .block = {tile, tile},
                 .arguments = {a, b, out(c_), n}} {
    program_.ready().get().value();
  }
  double gflops() const {
    const std::int64_t start = now_ns();
    gpu_.ask(request_).get().value();
    return 2. * n * n * n / static_cast<double>(now_ns() - start);
  }
  std::vector<float> result() const { return gpu_.download(c_).get().value(); }
  std::string execution() const { return program_.attributes(name_).get().value().execution; }

 private:
  device gpu_;
  std::string name_;
  jit::program program_;
  buffer<float> c_;
  jit::launch request_;
};

}  // namespace

figures run_jit_tile_gemm(const settings& s) {
  const device_under_test gpu(s, {.libraries = {"jit"}});
  const auto x = random_floats(n * n, 1), y = random_floats(n * n, 2);
  const auto a = uploaded(*gpu, x), b = uploaded(*gpu, y);
  const products split(*gpu, 16, "__syncthreads()", a, b), fibers(*gpu, 16, "meet()", a, b),
      wide(*gpu, 32, "__syncthreads()", a, b), wide_fibers(*gpu, 32, "meet()", a, b);
  const pair_of_medians found =
      interleaved(s.rounds(15), [&] { return split.gflops(); }, [&] { return fibers.gflops(); });
  const pair_of_medians large =
      interleaved(s.rounds(15), [&] { return wide.gflops(); }, [&] { return wide_fibers.gflops(); });
  figures f{.ours = found.ours, .raw = found.raw};
  char note[128];
  std::snprintf(note, sizeof note, "tiles of 16 x 16; of 32 x 32: %.3g against %.3g GFLOP/s, %.3g times", large.ours,
                large.raw, large.ours / large.raw);
  f.note = note;
  if (!split.execution().starts_with("split") || !fibers.execution().starts_with("fibers"))
    f.objection = "not run as intended: " + split.execution() + ", " + fibers.execution();
  for (const products* p : {&split, &fibers, &wide, &wide_fibers}) {
    const auto c = p->result();
    for (int i = 0; i < n; i += 37)
      for (int j = 0; j < n; j += 41) {
        double sum = 0;
        for (int k = 0; k < n; ++k) sum += double{x[i * n + k]} * double{y[k * n + j]};
        if (!(std::abs(sum - double{c[i * n + j]}) < 1e-3)) f.objection = "a product is wrong";
      }
  }
  return f;
}

}  // namespace troupe::bench
