// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The host engine's own kernel for small products, compared with OpenBLAS. Both are called in this process, alternating
// on one core, on matrices that stay in the cache. Only products that the engine computes with its own kernel are
// measured.
#include <algorithm>
#include <bench/host/openblas.hpp>
#include <bench/measures.hpp>
#include <bench/rounds.hpp>
#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <string>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/blas/host/small_gemm/small_gemm.hpp>
#include <vector>

namespace troupe::bench {
namespace {

constexpr int sizes[] = {4, 8, 12, 16, 24, 32, 48, 64};

struct totals {
  double logarithm_of_ours = 0, logarithm_of_raw = 0, least = std::numeric_limits<double>::infinity();
  int count = 0;
  std::string least_of, wrong;
};

// Measures square products of one kind. Returns the ratio of the rates, or 0 if our kernel does not compute them.
template <class T>
double compare(const settings& s, const openblas& bare, int n, bool turn_a, bool turn_b, totals& all) {
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::uniform_real_distribution<T> value(-1, 1);
  const auto elements = static_cast<std::size_t>(n * n);
  std::vector<T> a(elements), b(elements), ours(elements), raw(elements);
  for (auto* v : {&a, &b})
    for (T& x : *v) x = value(random);
  const blas::small_product<T> product{.turn_a = turn_a,
                                       .turn_b = turn_b,
                                       .m = n,
                                       .n = n,
                                       .k = n,
                                       .alpha = 1,
                                       .beta = 0,
                                       .a = a.data(),
                                       .lda = n,
                                       .b = b.data(),
                                       .ldb = n,
                                       .c = ours.data(),
                                       .ldc = n};
  if (!blas::multiply_small(product)) return 0;
  const double flop = 2. * n * n * n;
  const int times = std::max(1, static_cast<int>(4e6 / (flop + 500)));
  const auto rate = [&](auto&& once) {  // GFLOP/s
    const std::int64_t start = now_ns();
    for (int i = 0; i < times; ++i) once();
    return times * flop / static_cast<double>(now_ns() - start);
  };
  const pair_of_medians found = interleaved(
      s.rounds(21), [&] { return rate([&] { (void)blas::multiply_small(product); }); },
      [&] { return rate([&] { bare.gemm(turn_a, turn_b, n, a.data(), b.data(), raw.data()); }); });
  const std::string name = cat(sizeof(T) == 4 ? "f32 " : "f64 ", turn_a ? "T" : "N", turn_b ? "T" : "N", " ", n);
  for (std::size_t i = 0; i < elements; ++i)
    if (!(std::abs(ours[i] - raw[i]) <= T(1e-3))) all.wrong = name + ": the results differ";
  const double ratio = found.ours / found.raw;
  all.logarithm_of_ours += std::log(found.ours);
  all.logarithm_of_raw += std::log(found.raw);
  ++all.count;
  if (ratio < all.least) all.least = ratio, all.least_of = name;
  return ratio;
}

std::string digits(double v) {
  char text[16];
  std::snprintf(text, sizeof text, "%.2f", v);
  return text;
}

}  // namespace

figures run_blas_small(const settings& s) {
  const openblas bare;
  totals all;
  std::string note = "the least ratio of each size:";
  for (const int n : sizes) {
    double least = std::numeric_limits<double>::infinity();
    for (const bool turn_a : {false, true})
      for (const bool turn_b : {false, true})
        for (const double ratio :
             {compare<float>(s, bare, n, turn_a, turn_b, all), compare<double>(s, bare, n, turn_a, turn_b, all)})
          if (ratio > 0) least = std::min(least, ratio);
    if (std::isfinite(least)) note += cat(" ", n, ": ", digits(least), ",");
  }
  note.back() = ';';
  figures f{.ours = std::exp(all.logarithm_of_ours / all.count), .raw = std::exp(all.logarithm_of_raw / all.count)};
  f.note = cat(note, " of all ", all.count, ": ", digits(all.least), " (", all.least_of, ")");
  f.objection = all.wrong;
  if (all.least < 0.9) f.missed = all.least_of + " is slower than OpenBLAS: " + digits(all.least);
  return f;
}

}  // namespace troupe::bench
