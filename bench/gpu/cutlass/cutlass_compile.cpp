// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Measures how long the first product of a kind takes, and what a product with a known plan costs.
#include <algorithm>
#include <bench/gpu/cutlass/cutlass_pair.hpp>
#include <bench/measures.hpp>
#include <bench/system/empty_cache.hpp>
#include <cstdio>
#include <troupe/blas/blas.hpp>

namespace troupe::bench {
namespace {

// One of the products whose kernels -DTROUPE_PREBUILT builds into the engine; on the host engine, which tests use, a
// small product.
class product {
 public:
  product(const settings& s, const device& gpu)
      : m_(s.engine == "host" ? 16 : 4096),
        n_(s.engine == "host" ? 24 : 2048),
        a_(gpu, dtype::bf16, m_, m_, 1, random_elements(dtype::bf16, m_ * m_, 1)),
        b_(gpu, dtype::bf16, n_, m_, 1, random_elements(dtype::bf16, n_ * m_, 2)),
        d_(gpu, dtype::bf16, m_, n_, 1) {
    gpu.sync().get().value();
  }
  cutlass::gemm request() const { return {.a = a_.matrix(0), .b = b_.transposed(0), .d = d_.matrix<out_any>(0)}; }

 private:
  std::int64_t m_, n_;
  matrix_copies a_, b_, d_;
};

double ms_since(std::int64_t start) { return static_cast<double>(now_ns() - start) / 1e6; }

/// The answer of a new worker.
struct found {
  double ms;  ///< from the request to its answer
  cutlass::plan_info info;
};
found prepare_in_new_worker(const settings& s) {
  const device_under_test gpu(s, for_cutlass());
  const product p(s, *gpu);
  const std::int64_t start = now_ns();
  const auto info = gpu->ask(cutlass::prepare{p.request()}).get().value();
  return {ms_since(start), info};
}
found multiply_in_new_worker(const settings& s) {
  const device_under_test gpu(s, for_cutlass());
  const product p(s, *gpu);
  const std::int64_t start = now_ns();
  gpu->ask(p.request()).get().value();
  const double ms = ms_since(start);
  return {ms, gpu->ask(cutlass::prepare{p.request()}).get().value()};
}

constexpr std::string_view name_of(cutlass::kernel_source k) noexcept {
  constexpr std::string_view names[] = {"nowhere", "the engine", "the disk", "the compiler", "the vendor"};
  return k <= cutlass::kernel_source::vendor ? names[static_cast<std::size_t>(k)] : "an unknown place";
}
// Returns an objection if the kernel has another origin than expected. The host engine, which tests use, has no
// kernels.
std::string unexpected(const settings& s, const found& f, cutlass::kernel_source expected) {
  if (f.info.kernel == (s.engine == "host" ? cutlass::kernel_source::none : expected)) return {};
  return cat("the kernel came from ", name_of(f.info.kernel), ", not from ", name_of(expected));
}

}  // namespace

figures run_cutlass_compile_cold(const settings& s) {
  std::vector<double> whole, compiler;
  figures f;
  for (int i = 0; i < s.rounds(5); ++i) {
    const empty_cache cache;
    const found one = prepare_in_new_worker(s);
    if (one.info.kernel == cutlass::kernel_source::prebuilt)
      throw bad_result(
          error(reaction::unsupported, "bench", "the kernel is built into the engine: it is never compiled"));
    whole.push_back(one.ms / 1e3), compiler.push_back(static_cast<double>(one.info.compile_seconds));
    if (f.objection.empty()) f.objection = unexpected(s, one, cutlass::kernel_source::compiled);
  }
  f.ours = median(std::move(whole));
  char text[60];
  std::snprintf(text, sizeof text, "%.2f s of it in the compiler", median(std::move(compiler)));
  f.note = text;
  return f;
}

figures run_cutlass_compile_second(const settings& s) {
  const empty_cache cache;
  const found cold = multiply_in_new_worker(s);
  if (cold.info.kernel == cutlass::kernel_source::prebuilt)
    throw bad_result(error(reaction::unsupported, "bench", "the kernel is built into the engine: it is not on disk"));
  figures f{.raw = cold.ms};
  std::vector<double> ms;
  for (int i = 0; i < s.rounds(7); ++i) {
    const found one = multiply_in_new_worker(s);
    ms.push_back(one.ms);
    if (f.objection.empty()) f.objection = unexpected(s, one, cutlass::kernel_source::disk);
  }
  f.ours = median(std::move(ms));
  return f;
}

figures run_cutlass_compile_prebuilt(const settings& s) {
  std::vector<double> ms;
  const empty_cache cache;
  for (int i = 0; i < s.rounds(7); ++i) {
    const found one = multiply_in_new_worker(s);
    if (one.info.kernel != cutlass::kernel_source::prebuilt)
      throw bad_result(error(reaction::unsupported, "bench",
                             cat("the engine has no kernel for this built in: it came from ", name_of(one.info.kernel),
                                 "; configure with -DTROUPE_PREBUILT=\"gemm:bf16:sm_90a\"")));
    ms.push_back(one.ms);
  }
  return {.ours = median(std::move(ms))};
}

// The microseconds of a request, until its answer arrives.
figures run_cutlass_compile_known(const settings& s) {
  const device_under_test gpu(s, {.libraries = {"cutlass", "blas"}, .wait = wait_policy::latency});
  constexpr int n = 128;
  const int each = s.engine == "host" ? 20 : 1000;  // tests use the host engine
  const product_pair both(s, *gpu, {.type = raw_matmul_type::f16, .m = n, .n = n, .k = n});
  const cutlass::gemm request = gemms_of(both).front();
  gpu->ask(cutlass::prepare{request, measured_plans(s)}).get().value();
  const auto x = gpu->alloc<half>(n * n), y = gpu->alloc<half>(n * n), z = gpu->alloc<half>(n * n);
  gpu->fill(x, half(1)), gpu->fill(y, half(1));
  const blas::gemm<half> plain{.a = x, .b = y, .c = z, .m = n, .n = n, .k = n};
  std::vector<double> unused;
  const pair_of_medians found = interleaved(
      s.rounds(31), [&] { return median_of_each(each, unused, [&] { gpu->ask(request).get().value(); }); },
      [&] { return median_of_each(each, unused, [&] { gpu->ask(plain).get().value(); }); });
  both.bare->multiply(0);
  figures f{.ours = found.ours, .raw = found.raw, .objection = both.difference()};
  const auto queued = [&](const auto& r) {
    return [&] {
      const std::int64_t start = now_ns();
      run_queued(*gpu, r, each);
      return static_cast<double>(now_ns() - start) / 1e3 / each;
    };
  };
  const pair_of_medians in_queue = interleaved(s.rounds(31), queued(request), queued(plain));
  char text[80];
  std::snprintf(text, sizeof text, "queued: %.2f us for each, blas::gemm %.2f us", in_queue.ours, in_queue.raw);
  f.note = text;
  return f;
}

// The microseconds of the first product of each size, beside the second, until the answer arrives. The sizes differ in
// m alone, as those of a language model do from step to step.
figures run_cutlass_compile_new_size(const settings& s) {
  const device_under_test gpu(s, for_cutlass());
  const bool on_host = s.engine == "host";  // tests use the host engine
  const std::int64_t sizes = on_host ? 4 : 56, step = on_host ? 3 : 64, most = sizes * step, n = on_host ? 16 : 4096;
  const matrix_copies a(*gpu, dtype::bf16, most, n, 1, random_elements(dtype::bf16, most * n, 1)),
      b(*gpu, dtype::bf16, n, n, 1, random_elements(dtype::bf16, n * n, 2)), d(*gpu, dtype::bf16, most, n, 1);
  const auto rows = [&](std::int64_t m) { return tensor_shape{.rank = 2, .extents = {m, n}, .strides = {n, 1}}; };
  const auto microseconds = [&](const cutlass::gemm& r) {
    const std::int64_t start = now_ns();
    gpu->ask(r).get().value();
    return static_cast<double>(now_ns() - start) / 1e3;
  };
  std::vector<double> first, second;
  // Each round has other sizes. The first round only lets the kernels be compiled.
  for (int round = 0; round <= s.rounds(31); ++round)
    for (std::int64_t i = 0; i < sizes; ++i) {
      const std::int64_t m = 1 + i * step + round % step;
      const cutlass::gemm r{.a = in_any(a.range(0), rows(m), dtype::bf16),
                            .b = b.transposed(0),
                            .d = out_any(d.range(0), rows(m), dtype::bf16)};
      if (round == 0) {
        gpu->ask(cutlass::prepare{r}).get().value();
      } else {
        first.push_back(microseconds(r));
        second.push_back(microseconds(r));
      }
    }
  char text[60];
  std::snprintf(text, sizeof text, "the longest first product took %.0f us",
                *std::max_element(first.begin(), first.end()));
  return {.ours = median(std::move(first)), .raw = median(std::move(second)), .note = text};
}

}  // namespace troupe::bench
