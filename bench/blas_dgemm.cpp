// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// A large product through the worker, and the same call of the same library made here. Both libraries keep threads that
// spin on after a call, so each side waits until the other one is quiet.
#include <dlfcn.h>
#include <unistd.h>
#include <bench/cpu_time.hpp>
#include <bench/device_under_test.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <cmath>
#include <random>
#include <troupe/base/clock.hpp>
#include <troupe/base/unique_handle.hpp>
#include <troupe/blas/blas.hpp>

namespace troupe::bench {
namespace {

constexpr std::int64_t n = 1024;

struct library_traits {
  using type = void*;
  static constexpr void* null = nullptr;
  static void close(void*) noexcept {}  // OpenBLAS has threads: it stays
};

class openblas {
 public:
  openblas() {
    for (const char* name : {"libopenblas.so.0", "libopenblas.so"})
      if (!library_) library_.reset(::dlopen(name, RTLD_NOW | RTLD_LOCAL));
    if (library_) dgemm_ = reinterpret_cast<dgemm_fn*>(::dlsym(library_.get(), "cblas_dgemm"));
    if (dgemm_ == nullptr)
      throw bad_result(
          error(reaction::unsupported, "bench", "no libopenblas.so.0 to compare with; install libopenblas0-pthread"));
  }
  void product(const double* a, const double* b, double* c) const noexcept {
    constexpr int column_major = 102, as_it_is = 111, size = n;
    dgemm_(column_major, as_it_is, as_it_is, size, size, size, 1, a, size, b, size, 0, c, size);
  }

 private:
  using dgemm_fn = void(int order, int trans_a, int trans_b, int m, int n, int k, double alpha, const double* a,
                        int lda, const double* b, int ldb, double beta, double* c, int ldc);
  unique_handle<library_traits> library_;
  dgemm_fn* dgemm_ = nullptr;
};

double gflops(std::int64_t ns) { return 2. * n * n * n / static_cast<double>(ns); }

figures run(const settings& s) {
  const openblas bare;
  const device_under_test gpu(s, {.libraries = {"blas"}});
  const int worker = gpu->statistics().worker_pid;

  std::vector<double> x(n * n), y(n * n), z(n * n);
  std::mt19937_64 random(1);
  std::uniform_real_distribution<double> value(-1, 1);
  for (auto& v : x) v = value(random);
  for (auto& v : y) v = value(random);
  const auto a = gpu->alloc<double>(n * n), b = gpu->alloc<double>(n * n), c = gpu->alloc<double>(n * n);
  gpu->upload(a, x);
  gpu->upload(b, y);
  const blas::gemm<double> request{.a = a, .b = b, .c = c, .m = n, .n = n, .k = n};

  const auto quiet = [worker] { await_quiet(worker), await_quiet(::getpid()); };
  const pair_of_medians found = interleaved(
      s.rounds(21),
      [&] {
        quiet();
        const std::int64_t start = now_ns();
        gpu->ask(request).get().value();
        return gflops(now_ns() - start);
      },
      [&] {
        quiet();
        const std::int64_t start = now_ns();
        bare.product(x.data(), y.data(), z.data());
        return gflops(now_ns() - start);
      });

  const auto product = gpu->download(c).get().value();
  figures f{.ours = found.ours, .raw = found.raw};
  for (std::size_t i = 0; i < product.size(); ++i)
    if (!(std::abs(product[i] - z[i]) <= 1e-10)) f.objection = "the products differ";
  return f;
}

}  // namespace

const measure blas_dgemm_1024{.name = "blas.dgemm.1024",
                              .unit = "GFLOP/s",
                              .ours = "ask(blas::gemm<double>).get(), 1024 x 1024",
                              .raw = "cblas_dgemm of the same OpenBLAS, called here",
                              .goal = {goal::kind::ratio_at_least, 0.98},
                              .run = run};

}  // namespace troupe::bench
