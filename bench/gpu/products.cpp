// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Matrix products by the library actor blas, compared with cuBLAS alone, on the same random data: large ones, of which
// a few are queued at a time, as in real computations; and a burst of small ones.
#include <bench/device_under_test.hpp>
#include <bench/gpu/bursts.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/host/jit_kernels.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <cmath>
#include <cstdio>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/blas/blas.hpp>

namespace troupe::bench {
namespace {

template <class T>
std::vector<T> random_numbers(std::int64_t count, std::uint64_t seed) {
  const std::vector<float> values = random_floats(count, seed);
  std::vector<T> out(values.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = T(values[i]);
  return out;
}

template <class T>
buffer<T> uploaded(const device& gpu, const std::vector<T>& values) {
  auto b = gpu.alloc<T>(values.size());
  gpu.upload(b, values);
  return b;
}

// Compares results. Both sides sum in f32, in any order; a result in f16 is rounded once.
template <class T>
std::string difference(const std::vector<T>& ours, const std::vector<T>& raw, std::int64_t n) {
  const double rounding = sizeof(T) == 4 ? 0x1p-23 : 0x1p-10;
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double a = static_cast<float>(ours[i]), b = static_cast<float>(raw[i]);
    if (!(std::abs(a - b) <= 0x1p-21 * static_cast<double>(n) + rounding * std::abs(b)))
      return cat("the products differ: element ", i, " is ", std::to_string(a), ", by cuBLAS ", std::to_string(b));
  }
  return {};
}

template <class T, int n, int times>
figures run_large(const settings& s) {
  constexpr double flops = 2. * n * n * n * times;
  constexpr raw_number type = sizeof(T) == 4 ? raw_number::f32 : raw_number::f16;
  raw_side raw(s);
  // Spins, because cuStreamSynchronize spins on the raw side.
  const device_under_test gpu(s, {.libraries = {"blas"}, .wait = wait_policy::latency});
  const auto x = random_numbers<T>(std::int64_t{n} * n, 1), y = random_numbers<T>(std::int64_t{n} * n, 2);
  const auto bare = raw->products(type, n, 1, std::as_bytes(std::span(x)), std::as_bytes(std::span(y)));
  const auto a = uploaded(*gpu, x), b = uploaded(*gpu, y), c = gpu->alloc<T>(x.size());
  const blas::gemm<T> request{.a = a, .b = b, .c = c, .m = n, .n = n, .k = n};
  const auto rate = [](std::int64_t start) { return flops / static_cast<double>(now_ns() - start) / 1e3; };
  const pair_of_medians found = interleaved(
      s.rounds(11),
      [&] {
        gpu->fill(c.slice(0, n), T{}).get().value();  // so that each round must compute them again
        const std::int64_t start = now_ns();
        run_queued(*gpu, request, times);
        return rate(start);
      },
      [&] {
        const std::int64_t start = now_ns();
        for (int i = 0; i < times; ++i) bare->multiply(0);
        bare->synchronize();
        return rate(start);
      });
  figures f{.ours = found.ours, .raw = found.raw};
  std::vector<T> reference(x.size());
  bare->download(0, std::as_writable_bytes(std::span(reference)));
  f.objection = difference(gpu->download(c).get().value(), reference, n);
  return f;
}

}  // namespace

figures run_gpu_sgemm_2048(const settings& s) { return run_large<float, 2048, 400>(s); }
figures run_gpu_hgemm_8192(const settings& s) { return run_large<half, 8192, 100>(s); }

figures run_gpu_burst(const settings& s) {
  constexpr int products = 10'000;
  constexpr std::int64_t n = 32, size = n * n;
  raw_side raw(s);
  const device_under_test gpu(s, {.mailbox_capacity = 16384, .libraries = {"blas"}, .wait = wait_policy::latency});
  const auto x = random_numbers<float>(products * size, 1), y = random_numbers<float>(products * size, 2);
  const auto bare =
      raw->products(raw_number::f32, n, products, std::as_bytes(std::span(x)), std::as_bytes(std::span(y)));
  const auto a = uploaded(*gpu, x), b = uploaded(*gpu, y), c = gpu->alloc<float>(x.size());
  std::vector<blas::gemm<float>> requests;
  for (std::int64_t i = 0; i < products; ++i)
    requests.push_back({.a = a.slice(i * size, size),
                        .b = b.slice(i * size, size),
                        .c = c.slice(i * size, size),
                        .m = n,
                        .n = n,
                        .k = n});
  figures f = burst(s.rounds(31), *gpu, requests, [&](int i) { bare->multiply(i); }, [&] { bare->synchronize(); });
  const auto results = gpu->download(c).get().value();
  std::vector<float> reference(size);
  for (int i = 0; i < products && f.objection.empty(); ++i) {
    bare->download(i, std::as_writable_bytes(std::span(reference)));
    const auto begin = results.begin() + i * size;
    f.objection = difference(std::vector<float>(begin, begin + size), reference, n);
  }
  return f;
}

}  // namespace troupe::bench
