// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A matrix product written by hand for a Hopper GPU, compared with blas: example_hopper_gemm cuda.
#include <chrono>
#include <cstdio>
#include <random>
#include <troupe/base/half.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/jit/jit.hpp>
#include <troupe/troupe.hpp>

using namespace troupe;

// The source of the kernel, which explains how it works.
constexpr const char* source =
#include "hopper_gemm.cu"
    ;
constexpr int rows = 256, columns = 128, depth = 64, threads = 384,
              shared_bytes = 4 * (rows + columns) * depth * 2 + 1024;

// C has m rows of n, A has m rows of k, B has n columns of k.
struct product {
  int m, n, k;
  buffer<half> a, b, c;
};

jit::launch by_hand(const jit::program& program, const product& p) {
  const kernel::tensor_map a(p.a, {.sizes = {p.k, p.m},
                                   .box = {depth, rows},
                                   .swizzle = kernel::tensor_swizzle::bytes_128,
                                   .promotion = kernel::tensor_promotion::bytes_256});
  const kernel::tensor_map b(p.b, {.sizes = {p.k, p.n},
                                   .box = {depth, columns},
                                   .swizzle = kernel::tensor_swizzle::bytes_128,
                                   .promotion = kernel::tensor_promotion::bytes_256});
  return {.kernel = program.kernel("hopper_gemm"),
          .grid = {kernel::blocks_for(p.m, rows), kernel::blocks_for(p.n, columns)},
          .block = threads,
          .shared_bytes = shared_bytes,
          .arguments = {a, b, out(p.c), p.m, p.n, p.k}};
}

// Matrices of blas are column-major, so this computes the transpose of C from the transposes of B and A.
blas::gemm<half> by_blas(const product& p) {
  return {.a = p.b,
          .b = p.a,
          .c = p.c,
          .m = p.n,
          .n = p.m,
          .k = p.k,
          .trans_a = blas::op::transpose,
          .lda = p.k,
          .ldb = p.k,
          .ldc = p.n};
}

// Small integers: every sum is exact in any order, and half can hold it.
std::vector<half> whole_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<half> out(count);
  for (half& h : out) h = half(static_cast<float>(static_cast<int>(random() % 3) - 1));
  return out;
}

product make_product(const device& gpu, int m, int n, int k) {
  const auto elements = [](int a, int b) { return static_cast<std::size_t>(a) * static_cast<std::size_t>(b); };
  product p{m, n, k, gpu.alloc<half>(elements(m, k)), gpu.alloc<half>(elements(n, k)), gpu.alloc<half>(elements(m, n))};
  gpu.upload(p.a, whole_numbers(elements(m, k), 1));
  gpu.upload(p.b, whole_numbers(elements(n, k), 2));
  return p;
}

result<bool> is_right(const device& gpu, const jit::program& program, int m, int n, int k) {
  product p = make_product(gpu, m, n, k);
  gpu.tell(by_hand(program, p));
  const auto ours = gpu.download(p.c).get();
  if (!ours) return ours.error();
  gpu.tell(by_blas(p));
  const auto theirs = gpu.download(p.c).get();
  if (!theirs) return theirs.error();
  for (std::size_t i = 0; i < ours->size(); ++i)
    if (static_cast<float>((*ours)[i]) != static_cast<float>((*theirs)[i])) {
      std::printf("%d x %d x %d: element %zu is %g by hand and %g by blas\n", m, n, k, i,
                  static_cast<double>(static_cast<float>((*ours)[i])),
                  static_cast<double>(static_cast<float>((*theirs)[i])));
      return false;
    }
  std::printf("%d x %d x %d: the same as blas\n", m, n, k);
  return true;
}

// Returns operations per second, in units of 10^12.
template <class Request>
result<double> rate(const device& gpu, const product& p, const Request& request) {
  const int times = 20;
  for (int i = 0; i < 3; ++i) gpu.tell(request);
  if (auto warm = gpu.ping(0).get(); !warm) return warm.error();
  if (auto one = gpu.ask(request).get(); !one) return one.error();
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 1; i < times; ++i) gpu.tell(request);
  if (auto last = gpu.ask(request).get(); !last) return last.error();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  return 2.0 * p.m * p.n * p.k * times / took.count() / 1e12;
}

int failed(const error& e) {
  std::printf("%s\n", e.to_string().c_str());
  return 1;
}

int main(int argc, char** argv) {
  const std::string engine = argc > 1 ? argv[1] : "host";
  runtime rt;
  const device gpu = rt.open_device({.engine = engine});
  if (auto ready = gpu.started().get(); !ready) return failed(ready.error());
  const device_hardware has = gpu.statistics().hardware;
  if (has.capability_major != 9 || has.capability_minor != 0) {
    std::printf(
        "this kernel needs a Hopper GPU (capability 9.0, such as an H100 or H200): run it there, as\n"
        "  %s cuda\nThis device is %s, of capability %u.%u.\n",
        argv[0], has.model.c_str(), has.capability_major, has.capability_minor);
    return engine == "host" ? 0 : 1;
  }

  const jit::program program = jit::compile(gpu, {.source = source, .name = "hopper_gemm.cu"});
  if (auto ready = program.ready().get(); !ready) return failed(ready.error());

  // Whole tiles, and sizes that end within a tile.
  for (const auto [m, n, k] :
       {std::array{256, 128, 64}, {256, 128, 1024}, {1024, 1024, 1024}, {300, 202, 104}, {1, 2, 8}}) {
    const auto right = is_right(gpu, program, m, n, k);
    if (!right) return failed(right.error());
    if (!*right) return 1;
  }
  const product p = make_product(gpu, 8192, 8192, 8192);
  const auto ours = rate(gpu, p, by_hand(program, p)), theirs = rate(gpu, p, by_blas(p));
  if (!ours) return failed(ours.error());
  if (!theirs) return failed(theirs.error());
  std::printf("8192 x 8192 x 8192: %.0f TFLOP/s, blas %.0f\n", *ours, *theirs);
  return 0;
}
