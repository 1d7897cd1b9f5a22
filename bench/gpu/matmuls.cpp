// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Products of matmul, compared with cuBLASLt called directly, on the same random data: D = A * B^T, all stored row by
// row.
#include <algorithm>
#include <bench/device_under_test.hpp>
#include <bench/gpu/bursts.hpp>
#include <bench/gpu/model_layers.hpp>
#include <bench/gpu/product_pair.hpp>
#include <bench/measures.hpp>
#include <bench/ratio_list.hpp>
#include <cstdio>
#include <troupe/blas/blas.hpp>
#include <troupe/matmul/matmul.hpp>

namespace troupe::bench {
namespace {

matmul::multiplication request_of(const product_pair& p, int which = 0) {
  return {.a = p.a(which),
          .b = p.b(which),
          .d = p.d(which),
          .epilogue = p.epilogue(which),
          .options = {.precision = p.problem.type == raw_matmul_type::tf32 ? matmul::precision::tf32
                                                                           : matmul::precision::exact}};
}

// Returns the TFLOP/s of `times` products on each side.
pair_of_medians rates(const product_pair& p, int rounds, int times) {
  const matmul::multiplication r = request_of(p);
  const pair_of_medians seconds = seconds_of_each(
      rounds, p.gpu, std::span(&r, 1), times, [&](int i) { p.bare->multiply(i); }, [&] { p.bare->synchronize(); });
  return {p.operations() / seconds.ours / 1e12, p.operations() / seconds.raw / 1e12};
}

// Returns a remark if the sides use different algorithms, otherwise "".
std::string algorithms(const product_pair& p) {
  const auto words = p.gpu.alloc<std::uint64_t>(matmul::choice::size);
  auto prepared = matmul::prepare{request_of(p)};
  prepared.options.chosen = words;
  p.gpu.ask(prepared).get().value();
  const auto ours = p.gpu.download(words).get().value();
  const auto theirs = p.bare->algorithm();
  if (std::equal(theirs.begin(), theirs.end(), ours.begin())) return "";
  return "another algorithm than the raw side's; ";
}

device_options usual() { return {.libraries = {"matmul"}, .wait = wait_policy::latency}; }

template <raw_matmul_type Type, int n, int times>
figures run_large(const settings& s) {
  const device_under_test gpu(s, usual());
  const product_pair both(s, *gpu, {.type = Type, .m = n, .n = n, .k = n});
  const pair_of_medians found = rates(both, s.rounds(9), times);
  return {.ours = found.ours, .raw = found.raw, .note = algorithms(both), .objection = both.difference()};
}

}  // namespace

figures run_gpu_matmul_bf16(const settings& s) { return run_large<raw_matmul_type::bf16, 8192, 50>(s); }
figures run_gpu_matmul_fp8(const settings& s) { return run_large<raw_matmul_type::fp8, 8192, 50>(s); }
figures run_gpu_matmul_f16(const settings& s) { return run_large<raw_matmul_type::f16, 4096, 200>(s); }
figures run_gpu_matmul_tf32(const settings& s) { return run_large<raw_matmul_type::tf32, 4096, 100>(s); }
figures run_gpu_matmul_f64(const settings& s) { return run_large<raw_matmul_type::f64, 4096, 30>(s); }

figures run_gpu_matmul_models(const settings& s) {
  const device_under_test gpu(s, usual());
  ratio_list all;
  int changed = 0;
  const std::span<const product_extents> layers = layers_for(s);
  for (const product_extents& e : layers) {
    const product_pair both(s, *gpu, {.type = raw_matmul_type::bf16, .m = e.m, .n = e.n, .k = e.k});
    const auto info = gpu->ask(matmul::prepare{request_of(both), 8}).get().value();
    changed += info.microseconds < info.first_microseconds;
    const auto times = static_cast<int>(std::clamp(4e12 / both.operations(), 5., 200.));
    const pair_of_medians found = rates(both, s.rounds(7), times);
    all.add(cat(e.m, " x ", e.n, " x ", e.k), found, "", both.difference());
  }
  figures f = all.mean(0.98);
  f.note += cat("; another algorithm than the first for ", changed, " of ", layers.size());
  return f;
}

figures run_gpu_matmul_bias_gelu(const settings& s) {
  const device_under_test gpu(s, usual());
  constexpr int n = 4096, times = 200;
  const raw_matmul_problem p{
      .type = raw_matmul_type::bf16, .m = n, .n = n, .k = n, .epilogue = raw_matmul_epilogue::bias_gelu};
  const product_pair both(s, *gpu, p);
  const pair_of_medians found = rates(both, s.rounds(11), times);
  figures f{.ours = found.ours, .raw = found.raw, .objection = both.difference()};
  // The same function, written so that cuBLASLt does not fuse it with the product.
  matmul::multiplication apart = request_of(both);
  const auto bias = gpu->alloc<float>(n);
  gpu->fill(bias, 0.5f);
  apart.epilogue = gelu_tanh(epilogue::acc + epilogue::row(bias) + 1);
  std::vector<double> rates;
  for (int i = 0; i < s.rounds(7); ++i) {
    const std::int64_t start = now_ns();
    for (int t = 1; t < times; ++t) gpu->tell(apart);
    const auto done = gpu->ask(apart).get().value();
    if (done.fused) f.objection = "the product was fused, although it must have a second pass";
    rates.push_back(2. * n * n * n * times / static_cast<double>(now_ns() - start) / 1e3);
  }
  char text[60];
  std::snprintf(text, sizeof text, "fused %.2f of one in a second pass", found.ours / median(std::move(rates)));
  f.note = algorithms(both) + text;
  return f;
}

figures run_gpu_matmul_small(const settings& s) {
  const device_under_test gpu(s, {.libraries = {"matmul", "blas"}, .wait = wait_policy::latency});
  constexpr int n = 128;
  const int each = s.engine == "host" ? 20 : 1000;  // tests use the host engine
  const product_pair both(s, *gpu, {.type = raw_matmul_type::f16, .m = n, .n = n, .k = n});
  const matmul::multiplication request = request_of(both);
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

figures run_gpu_matmul_burst(const settings& s) {
  constexpr int count = 10'000, n = 64;
  const device_under_test gpu(s, {.mailbox_capacity = 16384, .libraries = {"matmul"}, .wait = wait_policy::latency});
  const raw_matmul_problem p{.type = raw_matmul_type::bf16,
                             .m = n,
                             .n = n,
                             .k = n,
                             .count = count,
                             .epilogue = raw_matmul_epilogue::bias_relu};
  const product_pair both(s, *gpu, p);
  std::vector<matmul::multiplication> requests;
  for (int i = 0; i < count; ++i) requests.push_back(request_of(both, i));
  figures f =
      burst(s.rounds(21), *gpu, requests, [&](int i) { both.bare->multiply(i); }, [&] { both.bare->synchronize(); });
  for (int i = 0; i < count && f.objection.empty(); i += 97) f.objection = both.difference(i);
  return f;
}

figures run_gpu_matmul_warm(const settings& s) {
  constexpr raw_matmul_problem p{.type = raw_matmul_type::bf16, .m = 1024, .n = 1536, .k = 2048};
  figures f;
  const auto ms_since = [](std::int64_t start) { return static_cast<double>(now_ns() - start) / 1e6; };
  const auto first_product = [&](const device& gpu, const product_pair& both) {
    const std::int64_t start = now_ns();
    gpu.ask(request_of(both)).get().value();
    return ms_since(start);
  };
  {
    // Stores the plan. For the raw side, only the first product of this process needs a search.
    const device_under_test gpu(s, usual());
    const product_pair both(s, *gpu, p);
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
    const product_pair both(s, *gpu, p);
    ours.push_back(first_product(*gpu, both));
    const auto found = gpu->ask(matmul::read_statistics{}).get().value();
    if (found.made != 1) f.objection = cat(found.made, " plans were made for one product");
  }
  f.ours = median(std::move(ours));
  return f;
}

}  // namespace troupe::bench
