// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Groups of rows with a matrix for each group, as in mixtures of experts.
#include <algorithm>
#include <bench/gpu/cutlass/cutlass_pair.hpp>
#include <bench/measures.hpp>
#include <cmath>
#include <cstdio>
#include <numeric>
#include <random>

namespace troupe::bench {
namespace {

/// A layer of a mixture of experts.
struct mixture {
  int experts;
  std::int32_t tokens;
  int n, k;
};
// Qwen3-30B-A3B: the first layer of each expert, with both halves of its result.
constexpr mixture published{128, 65'536, 1536, 2048}, small{5, 60, 16, 24};

/// Returns group sizes with a log-normal distribution, whose sum is the number of tokens.
std::vector<std::int32_t> skewed_sizes(const mixture& of) {
  std::mt19937_64 random(1);
  std::lognormal_distribution<double> share;
  std::vector<double> shares(static_cast<std::size_t>(of.experts));
  for (double& x : shares) x = share(random);
  const double all = std::accumulate(shares.begin(), shares.end(), 0.);
  std::vector<std::int32_t> out;
  for (const double x : shares) out.push_back(static_cast<std::int32_t>(x / all * of.tokens));
  out.back() += of.tokens - std::accumulate(out.begin(), out.end(), 0);
  return out;
}

/// Returns the request, in which the groups of A, and of D, follow each other.
cutlass::gemm_grouped request_of(const mixture& of, const matrix_copies& a, const matrix_copies& b,
                                 const matrix_copies& d, const buffer<std::int32_t>& sizes) {
  const std::int64_t n = of.n, k = of.k;
  const in_any weights(b.range(0), {.rank = 3, .extents = {of.experts, k, n}, .strides = {n * k, 1, k}}, b.type());
  return {.a = a.matrix(0), .b = weights, .d = d.matrix<out_any>(0), .sizes = sizes};
}

}  // namespace

figures run_cutlass_grouped(const settings& s) {
  const mixture of = s.engine == "host" ? small : published;
  const device_under_test gpu(s, for_cutlass());
  raw_side raw(s);
  const std::vector<std::int32_t> sizes = skewed_sizes(of);
  const std::int64_t columns = std::int64_t{of.n} * of.experts;
  const auto x = random_elements(dtype::bf16, std::int64_t{of.tokens} * of.k, 1),
             y = random_elements(dtype::bf16, columns * of.k, 2);
  const auto bare = raw->groups(sizes, of.n, of.k, x, y);
  const matrix_copies a(*gpu, dtype::bf16, of.tokens, of.k, 1, x), b(*gpu, dtype::bf16, columns, of.k, 1, y),
      d(*gpu, dtype::bf16, of.tokens, of.n, 1);
  const auto sizes_there = gpu->upload(sizes);
  const cutlass::gemm_grouped request = request_of(of, a, b, d, sizes_there);
  const std::span<const cutlass::gemm_grouped> one(&request, 1);
  const auto info = gpu->ask(cutlass::prepare{request, measured_plans(s)}).get().value();
  const auto outcome = gpu->ask(request).get().value();
  const int times = times_of_turn(s, *gpu, one);
  const auto wait = [&] { bare->synchronize(); };
  const pair_of_medians at_once =
      seconds_of_each(s.rounds(9), *gpu, one, times, [&](int) { bare->multiply_at_once(); }, wait);
  const pair_of_medians alone =
      seconds_of_each(s.rounds(9), *gpu, one, times, [&](int) { bare->multiply_one_by_one(); }, wait);
  const double operations = 2. * of.tokens * of.n * of.k / 1e12;
  // The smaller ratio counts.
  const pair_of_medians& least = at_once.raw / at_once.ours < alone.raw / alone.ours ? at_once : alone;
  figures f{.ours = operations / least.ours, .raw = operations / least.raw};
  char text[160];
  std::snprintf(text, sizeof text, "groups of %d to %d rows; grouped %.4g, ratio %.3f; one by one %.4g, ratio %.3f; ",
                *std::min_element(sizes.begin(), sizes.end()), *std::max_element(sizes.begin(), sizes.end()),
                operations / at_once.raw, at_once.raw / at_once.ours, operations / alone.raw, alone.raw / alone.ours);
  f.note = text + to_string(info.plan);
  if (const auto wrong = cutlass::error_of(outcome)) f.objection = wrong->text();
  const std::vector<std::byte> ours = d.download(*gpu, 0, d.bytes_of_one());
  std::vector<std::byte> theirs(ours.size());
  bare->download(theirs);
  if (const auto wrong = difference_of(dtype::bf16, ours, theirs, 0x1p-7, 0x1p-13 * std::sqrt(of.k)); !wrong.empty())
    f.objection = "the products differ: " + wrong;
  return f;
}

}  // namespace troupe::bench
