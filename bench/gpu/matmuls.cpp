// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Products of matmul and of cuBLASLt called directly, of the same random numbers: D = A * B^T, all stored row by row.
#include <array>
#include <bench/device_under_test.hpp>
#include <bench/gpu/bursts.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/jit_kernels.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <cmath>
#include <cstdio>
#include <troupe/base/cat.hpp>
#include <troupe/base/clock.hpp>
#include <troupe/base/float8.hpp>
#include <troupe/blas/blas.hpp>
#include <troupe/matmul/matmul.hpp>

namespace troupe::bench {
namespace {

using epilogue::acc;

constexpr std::int64_t random_count = 1 << 20;  // larger operands repeat these numbers

template <class T>
std::vector<T> random_numbers(std::int64_t count, std::uint64_t seed) {
  const std::vector<float> values = random_floats(std::min(count, random_count), seed);
  std::vector<T> out(values.size());
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = T(values[i]);
  return out;
}
template <class T>
buffer<T> repeated(const device& gpu, const std::vector<T>& one, std::int64_t count) {
  const auto out = gpu.alloc<T>(static_cast<std::size_t>(count));
  const auto all = static_cast<std::size_t>(count);
  for (std::size_t at = 0; at < all; at += one.size()) {
    const std::size_t here = std::min(one.size(), all - at);
    gpu.upload(out.slice(at, here), std::vector<T>(one.begin(), one.begin() + static_cast<std::ptrdiff_t>(here)));
  }
  return out;
}

template <raw_matmul_type>
struct elements;
template <>
struct elements<raw_matmul_type::bf16> {
  using factor = bfloat16;
  using result = bfloat16;
};
template <>
struct elements<raw_matmul_type::f16> {
  using factor = half;
  using result = half;
};
template <>
struct elements<raw_matmul_type::tf32> {
  using factor = float;
  using result = float;
};
template <>
struct elements<raw_matmul_type::f64> {
  using factor = double;
  using result = double;
};
template <>
struct elements<raw_matmul_type::fp8> {
  using factor = float8_e4m3;
  using result = bfloat16;
};

/// Both sides of a comparison, with the same numbers.
template <raw_matmul_type Type>
class comparison {
 public:
  using factor = typename elements<Type>::factor;
  using number = typename elements<Type>::result;

  comparison(const settings& s, const device& on, const raw_matmul_problem& p)
      : gpu(on),
        problem(p),
        x_(random_numbers<factor>(std::int64_t{p.m} * p.k * p.count, 1)),
        y_(random_numbers<factor>(std::int64_t{p.n} * p.k * p.count, 2)),
        z_(random_numbers<number>(p.n, 3)),
        raw_(s),
        a_(repeated(gpu, x_, std::int64_t{p.m} * p.k * p.count)),
        b_(repeated(gpu, y_, std::int64_t{p.n} * p.k * p.count)),
        d_(gpu.alloc<number>(static_cast<std::size_t>(p.m) * static_cast<std::size_t>(p.n) *
                             static_cast<std::size_t>(p.count))),
        bias_(repeated(gpu, z_, p.n)) {
    bare = raw_->matmuls(p, std::as_bytes(std::span(x_)), std::as_bytes(std::span(y_)), std::as_bytes(std::span(z_)));
  }

  matmul::multiplication request(std::int64_t which = 0) const {
    const std::int64_t m = problem.m, n = problem.n, k = problem.k;
    epilogue::expression e = acc;
    if (problem.epilogue == raw_matmul_epilogue::bias_relu) e = relu(acc + epilogue::row(bias_));
    if (problem.epilogue == raw_matmul_epilogue::bias_gelu) e = gelu_tanh(acc + epilogue::row(bias_));
    return {.a = matrix(a_.slice(which * m * k, m * k), m, k),
            .b = matrix(b_.slice(which * n * k, n * k), n, k).transposed(),
            .d = matrix(d_.slice(which * m * n, m * n), m, n),
            .epilogue = e,
            .precision = Type == raw_matmul_type::tf32 ? matmul::precision::tf32 : matmul::precision::exact};
  }

  // How the results differ; "" if they do not.
  std::string difference(int which = 0) {
    const std::size_t size = static_cast<std::size_t>(problem.m) * static_cast<std::size_t>(problem.n);
    std::vector<number> theirs(size);
    bare->download(which, std::as_writable_bytes(std::span(theirs)));
    const auto ours = gpu.download(d_.slice(static_cast<std::size_t>(which) * size, size)).get().value();
    const double rounding = sizeof(number) == 2   ? 0x1p-7
                            : sizeof(number) == 4 ? 0x1p-20
                                                  : 0x1p-48,
                 of_sum = (sizeof(number) == 8 ? 0x1p-50 : 0x1p-13) * std::sqrt(problem.k);
    for (std::size_t i = 0; i < size; ++i) {
      const auto x = static_cast<double>(ours[i]), y = static_cast<double>(theirs[i]);
      if (!(std::abs(x - y) <= rounding * std::abs(y) + of_sum))
        return cat("the products differ: element ", i, " is ", std::to_string(x), ", by cuBLASLt ", std::to_string(y));
    }
    return {};
  }

  // TFLOP/s of `times` products.
  pair_of_medians rates(int rounds, int times) {
    const matmul::multiplication r = request();
    const double flops = 2. * problem.m * problem.n * problem.k * times;
    const auto rate = [flops](std::int64_t start) { return flops / static_cast<double>(now_ns() - start) / 1e3; };
    return interleaved(
        rounds,
        [&] {
          const std::int64_t start = now_ns();
          run_queued(gpu, r, times);
          return rate(start);
        },
        [&] {
          const std::int64_t start = now_ns();
          for (int i = 0; i < times; ++i) bare->multiply(0);
          bare->synchronize();
          return rate(start);
        });
  }

  // Says so if the sides use different algorithms.
  std::string algorithms() {
    const auto words = gpu.alloc<std::uint64_t>(matmul::choice::size);
    matmul::prepare p = matmul::prepare::of(request());
    p.chosen = words;
    gpu.ask(p).get().value();
    const auto ours = gpu.download(words).get().value();
    const auto theirs = bare->algorithm();
    if (std::equal(theirs.begin(), theirs.end(), ours.begin())) return "";
    return "another algorithm than the raw side's; ";
  }

  const device gpu;
  const raw_matmul_problem problem;

 private:
  const std::vector<factor> x_, y_;
  const std::vector<number> z_;
  raw_side raw_;
  const buffer<factor> a_, b_;
  const buffer<number> d_, bias_;

 public:
  std::unique_ptr<raw_matmuls> bare;  // after the raw side, which it belongs to
};

device_options usual() { return {.libraries = {"matmul"}, .wait = wait_policy::latency}; }

template <raw_matmul_type Type, int n, int times>
figures run_large(const settings& s) {
  const device_under_test gpu(s, usual());
  comparison<Type> both(s, *gpu, {.type = Type, .m = n, .n = n, .k = n});
  const pair_of_medians found = both.rates(s.rounds(9), times);
  return {.ours = found.ours, .raw = found.raw, .note = both.algorithms(), .objection = both.difference()};
}

struct extents {
  int m, n, k;
};
// Layers of Llama 3 (8B, 70B), Qwen 2 (7B), Mistral (7B), BERT (large) and GPT-3 (13B), for some numbers of tokens.
constexpr extents layers[] = {
    {4096, 6144, 4096},  {4096, 4096, 4096},  {4096, 28672, 4096}, {4096, 4096, 14336}, {512, 6144, 4096},
    {512, 4096, 4096},   {512, 28672, 4096},  {512, 4096, 14336},  {64, 6144, 4096},    {64, 4096, 14336},
    {128, 128256, 4096}, {2048, 10240, 8192}, {2048, 8192, 8192},  {2048, 57344, 8192}, {2048, 8192, 28672},
    {256, 10240, 8192},  {256, 8192, 28672},  {16, 8192, 8192},    {4096, 4608, 3584},  {4096, 37888, 3584},
    {4096, 3584, 18944}, {1024, 4608, 3584},  {1024, 3584, 18944}, {2048, 28672, 4096}, {8192, 3072, 1024},
    {8192, 1024, 1024},  {8192, 4096, 1024},  {8192, 1024, 4096},  {2048, 15360, 5120}, {2048, 5120, 20480}};
static_assert(std::size(layers) == 30);

figures run_models(const settings& s) {
  const device_under_test gpu(s, usual());
  double ours = 0, raw = 0, least = 10;
  figures f;
  int changed = 0;
  for (const extents& e : layers) {
    comparison<raw_matmul_type::bf16> both(s, *gpu, {.type = raw_matmul_type::bf16, .m = e.m, .n = e.n, .k = e.k});
    const auto info = gpu->ask(matmul::prepare::of(both.request(), 8)).get().value();
    changed += info.microseconds < info.first_microseconds;
    const double flops = 2. * e.m * e.n * e.k;
    const pair_of_medians found = both.rates(s.rounds(7), static_cast<int>(std::clamp(4e12 / flops, 5., 200.)));
    ours += std::log(found.ours), raw += std::log(found.raw);
    if (found.ours / found.raw < least) {
      least = found.ours / found.raw;
      f.note = cat("least ", std::to_string(least), " at ", e.m, " x ", e.n, " x ", e.k);
    }
    if (f.objection.empty()) f.objection = both.difference();
  }
  f.ours = std::exp(ours / std::size(layers)), f.raw = std::exp(raw / std::size(layers));
  f.note += cat("; another algorithm than the first for ", changed, " of 30");
  if (least < 0.98) f.missed = "each at least 0.98 of the first algorithm";
  return f;
}

figures run_bias_gelu(const settings& s) {
  const device_under_test gpu(s, usual());
  constexpr int n = 4096, times = 200;
  const raw_matmul_problem p{
      .type = raw_matmul_type::bf16, .m = n, .n = n, .k = n, .epilogue = raw_matmul_epilogue::bias_gelu};
  comparison<raw_matmul_type::bf16> both(s, *gpu, p);
  const pair_of_medians found = both.rates(s.rounds(11), times);
  figures f{.ours = found.ours, .raw = found.raw, .objection = both.difference()};
  // The same function, in a way that cuBLASLt does not compute together with the product.
  matmul::multiplication apart = both.request();
  const auto bias = gpu->alloc<float>(n);
  gpu->fill(bias, 0.5f);
  apart.epilogue = gelu_tanh(acc + epilogue::row(bias) + 1);
  std::vector<double> rates;
  for (int i = 0; i < s.rounds(7); ++i) {
    const std::int64_t start = now_ns();
    for (int t = 1; t < times; ++t) gpu->tell(apart);
    const auto done = gpu->ask(apart).get().value();
    if (done.fused) f.objection = "the second pass is none";
    rates.push_back(2. * n * n * n * times / static_cast<double>(now_ns() - start) / 1e3);
  }
  char text[60];
  std::snprintf(text, sizeof text, "fused %.2f of one in a second pass", found.ours / median(std::move(rates)));
  f.note = both.algorithms() + text;
  return f;
}

figures run_small(const settings& s) {
  const device_under_test gpu(s, {.libraries = {"matmul", "blas"}, .wait = wait_policy::latency});
  constexpr int n = 128, each = 1000;
  comparison<raw_matmul_type::f16> both(s, *gpu, {.type = raw_matmul_type::f16, .m = n, .n = n, .k = n});
  const matmul::multiplication request = both.request();
  const auto x = gpu->alloc<half>(n * n), y = gpu->alloc<half>(n * n), z = gpu->alloc<half>(n * n);
  gpu->fill(x, half(1)), gpu->fill(y, half(1));
  const blas::gemm<half> plain{.a = x, .b = y, .c = z, .m = n, .n = n, .k = n};
  std::vector<double> ours, raws, blases, of_blas;
  const pair_of_medians found = interleaved(
      s.rounds(31),
      [&] {
        of_blas.push_back(median_of_each(each, blases, [&] { gpu->ask(plain).get().value(); }));
        return median_of_each(each, ours, [&] { gpu->ask(request).get().value(); });
      },
      [&] {
        return median_of_each(each, raws, [&] {
          both.bare->multiply(0);
          both.bare->poll_until_done();
        });
      });
  figures f{.ours = found.ours, .raw = found.raw, .objection = both.difference()};
  const double above = found.ours - median(std::move(of_blas));
  char text[60];
  std::snprintf(text, sizeof text, "%+.1f us above blas::gemm", above);
  f.note = text;
  if (above > 1) f.missed = "at most 1 us above blas::gemm";
  return f;
}

figures run_burst(const settings& s) {
  constexpr int count = 10'000, n = 64;
  const device_under_test gpu(s, {.mailbox_capacity = 16384, .libraries = {"matmul"}, .wait = wait_policy::latency});
  const raw_matmul_problem p{.type = raw_matmul_type::bf16,
                             .m = n,
                             .n = n,
                             .k = n,
                             .count = count,
                             .epilogue = raw_matmul_epilogue::bias_relu};
  comparison<raw_matmul_type::bf16> both(s, *gpu, p);
  std::vector<matmul::multiplication> requests;
  for (int i = 0; i < count; ++i) requests.push_back(both.request(i));
  figures f =
      burst(s.rounds(21), *gpu, requests, [&](int i) { both.bare->multiply(i); }, [&] { both.bare->synchronize(); });
  for (int i = 0; i < count && f.objection.empty(); i += 97) f.objection = both.difference(i);
  return f;
}

figures run_warm(const settings& s) {
  constexpr raw_matmul_problem p{.type = raw_matmul_type::bf16, .m = 1024, .n = 1536, .k = 2048};
  figures f;
  const auto ms_since = [](std::int64_t start) { return static_cast<double>(now_ns() - start) / 1e6; };
  const auto first_product = [&](const device& gpu, comparison<raw_matmul_type::bf16>& both) {
    const std::int64_t start = now_ns();
    gpu.ask(both.request()).get().value();
    return ms_since(start);
  };
  {
    // Stores the plan. Only the first product of this process is a first one for the raw side.
    const device_under_test gpu(s, usual());
    comparison<raw_matmul_type::bf16> both(s, *gpu, p);
    const std::int64_t start = now_ns();
    both.bare->multiply(0);
    both.bare->synchronize();
    f.raw = ms_since(start);
    (void)first_product(*gpu, both);
    f.objection = both.difference();
  }
  std::vector<double> ours;
  for (int i = 0; i < s.rounds(5); ++i) {
    const device_under_test gpu(s, usual());
    comparison<raw_matmul_type::bf16> both(s, *gpu, p);
    ours.push_back(first_product(*gpu, both));
    const auto found = gpu->ask(matmul::read_statistics{}).get().value();
    if (found.made != 1) f.objection = cat(found.made, " plans were made for one product");
  }
  f.ours = median(std::move(ours));
  return f;
}

}  // namespace

const measure gpu_matmul_bf16{.name = "gpu.matmul.bf16.8192",
                              .unit = "TFLOP/s",
                              .ours = "50 of matmul::multiplication queued, 8192 x 8192 of bfloat16",
                              .raw = "50 of cublasLtMatmul with its heuristic's first algorithm",
                              .goal = {goal::kind::ratio_at_least, 0.995},
                              .run = run_large<raw_matmul_type::bf16, 8192, 50>};
const measure gpu_matmul_fp8{.name = "gpu.matmul.fp8.8192",
                             .unit = "TFLOP/s",
                             .ours = "50 of matmul::multiplication queued, 8192 x 8192 of e4m3, to bfloat16",
                             .raw = "50 of cublasLtMatmul with its heuristic's first algorithm",
                             .goal = {goal::kind::ratio_at_least, 0.995},
                             .run = run_large<raw_matmul_type::fp8, 8192, 50>};
const measure gpu_matmul_f16{.name = "gpu.matmul.f16.4096",
                             .unit = "TFLOP/s",
                             .ours = "200 of matmul::multiplication queued, 4096 x 4096 of half",
                             .raw = "200 of cublasLtMatmul with its heuristic's first algorithm",
                             .goal = {goal::kind::ratio_at_least, 0.995},
                             .run = run_large<raw_matmul_type::f16, 4096, 200>};
const measure gpu_matmul_tf32{.name = "gpu.matmul.tf32.4096",
                              .unit = "TFLOP/s",
                              .ours = "100 of matmul::multiplication queued, 4096 x 4096 of float by tf32",
                              .raw = "100 of cublasLtMatmul with its heuristic's first algorithm",
                              .goal = {goal::kind::ratio_at_least, 0.995},
                              .run = run_large<raw_matmul_type::tf32, 4096, 100>};
const measure gpu_matmul_f64{.name = "gpu.matmul.f64.4096",
                             .unit = "TFLOP/s",
                             .ours = "30 of matmul::multiplication queued, 4096 x 4096 of double",
                             .raw = "30 of cublasLtMatmul with its heuristic's first algorithm",
                             .goal = {goal::kind::ratio_at_least, 0.995},
                             .run = run_large<raw_matmul_type::f64, 4096, 30>};
const measure gpu_matmul_models{.name = "gpu.matmul.models",
                                .unit = "TFLOP/s",
                                .ours = "products of 30 layers of language models, bfloat16, measured: geometric mean",
                                .raw = "cublasLtMatmul with its heuristic's first algorithm",
                                .goal = {goal::kind::ratio_at_least, 1.02},
                                .run = run_models};
const measure gpu_matmul_bias_gelu{.name = "gpu.matmul.bias_gelu.bf16",
                                   .unit = "TFLOP/s",
                                   .ours = "200 of gelu_tanh(acc + row(bias)) queued, 4096 x 4096 of bfloat16",
                                   .raw = "200 of cublasLtMatmul with CUBLASLT_EPILOGUE_GELU_BIAS",
                                   .goal = {goal::kind::ratio_at_least, 0.99},
                                   .run = run_bias_gelu};
const measure gpu_matmul_small{.name = "gpu.matmul.small",
                               .unit = "us",
                               .ours = "ask(matmul::multiplication).get(), 128 x 128 of half, both sides awake",
                               .raw = "cublasLtMatmul, cuStreamWriteValue64 to host memory, and polling it",
                               .goal = {goal::kind::at_most_above_raw, 2},
                               .run = run_small};
const measure gpu_matmul_burst{.name = "gpu.matmul.burst",
                               .unit = "/us",
                               .ours = "10000 tells of relu(acc + row(bias)), 64 x 64 of bfloat16, until all are done",
                               .raw = "10000 of cublasLtMatmul, one by one, and cuStreamSynchronize",
                               .goal = {goal::kind::ratio_at_least, 10},
                               .run = run_burst};
const measure gpu_matmul_warm{.name = "gpu.matmul.plan.warm",
                              .unit = "ms",
                              .ours = "the first product of a worker, whose plan is on disk",
                              .raw = "the first cublasLtMatmul of a process, with cublasLtCreate and its search",
                              .goal = {goal::kind::at_most_above_raw, 5},
                              .run = run_warm};

}  // namespace troupe::bench
