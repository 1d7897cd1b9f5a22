// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// 20,000 small products by 16 tasks, with requests written in place.
#include <cstdio>
#include <troupe/async/thread_pool.hpp>
#include <troupe/async/when.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/troupe.hpp>
#include <vector>

using namespace troupe;

constexpr int n = 8, workers = 16, rounds = 125, batch = 10;  // 16 * 125 * 10 products
constexpr int elements = n * n;

float value_of(int seed, int i) { return static_cast<float>((seed * 31 + i * 7) % 11 - 5); }

/// Returns how many elements of its products are wrong.
task<result<int>> worker(device gpu, int id) {
  auto a = gpu.alloc<float>(elements * batch), b = gpu.alloc<float>(elements * batch);
  auto c = gpu.alloc<float>(elements * batch), again = gpu.alloc<float>(elements * batch);
  std::vector<float> x(elements * batch), y(elements * batch);
  int wrong = 0;
  for (int round = 0; round < rounds; ++round) {
    const int seed = id * rounds + round;
    for (int i = 0; i < elements * batch; ++i) {
      x[i] = value_of(seed, i);
      y[i] = value_of(seed + 1, i);
    }
    co_await when_all(gpu.upload(a, x), gpu.upload(b, y));
    co_await gpu.ask(blas::gemm_strided_batched<float>{
        .a = a, .b = b, .c = c, .m = n, .n = n, .k = n, .batch = batch, .alpha = 1, .beta = 0});
    // Computes the first two again in another way.
    co_await gpu.ask(blas::gemm_batched<float>{.a = {a.slice(0, elements), a.slice(elements, elements)},
                                               .b = {b.slice(0, elements), b.slice(elements, elements)},
                                               .c = {again.slice(0, elements), again.slice(elements, elements)},
                                               .m = n,
                                               .n = n,
                                               .k = n});
    auto both = co_await when_all(gpu.download(c), gpu.download(again.slice(0, 2 * elements)));
    const std::vector<float> got = co_await std::get<0>(std::move(both));
    const std::vector<float> twice = co_await std::get<1>(std::move(both));
    for (int p = 0; p < batch; ++p)
      for (int j = 0; j < n; ++j)
        for (int i = 0; i < n; ++i) {
          float sum = 0;
          for (int k = 0; k < n; ++k) sum += x[p * elements + i + k * n] * y[p * elements + k + j * n];
          const int at = p * elements + i + j * n;
          wrong += got[at] != sum || (p < 2 && twice[at] != sum);
        }
  }
  co_return wrong;
}

int main() {
  runtime rt;
  const device gpu = rt.open_device({.when_full = when_full::wait, .libraries = {"blas"}});
  thread_pool pool(2);
  std::vector<pending<int>> running;
  for (int id = 0; id < workers; ++id) running.push_back(start(pool, worker(gpu, id)));
  const auto all = when_all(std::move(running)).get();
  if (!all) return std::fprintf(stderr, "pipeline: %s\n", all.error().to_string().c_str()), 1;
  int wrong = 0;
  for (const auto& one : *all) {
    if (!one) return std::fprintf(stderr, "pipeline: %s\n", one.error().to_string().c_str()), 1;
    wrong += *one;
  }
  std::printf("%d products, %d wrong elements\n", workers * rounds * batch, wrong);
  return wrong == 0 ? 0 : 1;
}
