// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Large requests of blas through the worker, compared with the same calls of the same library in this process.
#include <apps/cli/peak.hpp>
#include <bench/host/direct.hpp>
#include <bench/host/openblas.hpp>
#include <bench/measures.hpp>
#include <bench/system/cpu_time.hpp>
#include <chrono>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/blas/blas.hpp>

namespace troupe::bench {
namespace {

template <int n>
figures dgemm(const settings& s) {
  const openblas bare;
  const device_under_test gpu(s, {.libraries = {"blas"}});
  const auto x = random_values<double>(n * n, 1), y = random_values<double>(n * n, 2);
  std::vector<double> z(n * n);
  const auto a = uploaded(gpu, x), b = uploaded(gpu, y), c = gpu->alloc<double>(n * n);
  figures f = against(s, gpu, n > 1024 ? 11 : 21, 1, 2. * n * n * n,
                      blas::gemm<double>{.a = a, .b = b, .c = c, .m = n, .n = n, .k = n},
                      [&] { bare.dgemm(n, x.data(), y.data(), z.data()); });
  f.objection = difference(gpu->download(c).get().value(), z, 1e-10);
  return f;
}

}  // namespace

figures run_blas_dgemm_1024(const settings& s) { return dgemm<1024>(s); }
figures run_blas_dgemm_2048(const settings& s) { return dgemm<2048>(s); }

// Compares with the processor's peak, because both sides of the other measures could be far below it.
figures run_blas_dgemm_peak(const settings& s) {
  constexpr int n = 2048;
  const int threads = usable_cores();
  const device_under_test gpu(s, {.libraries = {"blas"}});
  const auto a = uploaded(gpu, random_values<double>(n * n, 1)), b = uploaded(gpu, random_values<double>(n * n, 2)),
             c = gpu->alloc<double>(n * n);
  gpu->sync().get().value();
  const int worker = gpu->statistics().worker_pid.value();
  std::string_view instruction;
  const pair_of_medians found = interleaved(
      s.rounds(11),
      [&] {
        await_quiet(worker);
        const std::int64_t start = now_ns();
        gpu->ask(blas::gemm<double>{.a = a, .b = b, .c = c, .m = n, .n = n, .k = n}).get().value();
        return 2. * n * n * n / static_cast<double>(now_ns() - start);
      },
      [&] {
        await_quiet(worker);
        const apps::arithmetic_peak peak = apps::measure_peak(threads, std::chrono::milliseconds(30));
        instruction = peak.instruction;
        return peak.flops / 1e9;
      });
  if (found.raw == 0) throw bad_result(error(reaction::unsupported, "bench", "no peak is known for this processor"));
  figures f{.ours = found.ours, .raw = found.raw};
  f.note = cat(instruction, " in registers, ", threads, " threads");
  return f;
}

figures run_blas_gemv_4096(const settings& s) {
  constexpr int n = 4096;
  const openblas bare;
  const device_under_test gpu(s, {.libraries = {"blas"}});
  const auto matrix = random_values<float>(n * n, 1), vector = random_values<float>(n, 2);
  std::vector<float> result(n);
  const auto a = uploaded(gpu, matrix), x = uploaded(gpu, vector), y = gpu->alloc<float>(n);
  figures f = against(s, gpu, 21, 10, 2. * n * n, blas::gemv<float>{.a = a, .x = x, .y = y, .m = n, .n = n},
                      [&] { bare.sgemv(n, matrix.data(), vector.data(), result.data()); });
  f.objection = difference(gpu->download(y).get().value(), result, 1e-2);
  return f;
}

figures run_blas_axpy_1e6(const settings& s) {
  constexpr int n = 1'000'000;
  const openblas bare;
  const device_under_test gpu(s, {.libraries = {"blas"}});
  const auto from = random_values<float>(n, 1);
  auto to = random_values<float>(n, 2);
  const auto x = uploaded(gpu, from), y = uploaded(gpu, to);
  figures f = against(s, gpu, 31, 50, 2. * n, blas::axpy<float>{.x = x, .y = y, .n = n, .alpha = 1e-3f},
                      [&] { bare.saxpy(n, 1e-3f, from.data(), to.data()); });
  f.objection = difference(gpu->download(y).get().value(), to, 1e-2);
  return f;
}

}  // namespace troupe::bench
