// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/device_under_test.hpp>
#include <bench/gpu/product_pair.hpp>
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <vector>

/// Code that the measures of cutlass share.
namespace troupe::bench {

inline device_options for_cutlass() { return {.libraries = {"cutlass"}, .wait = wait_policy::latency}; }

/// Returns how many plans are timed to find the fastest one.
inline std::int32_t measured_plans(const settings& s) noexcept { return s.quick ? 4 : 16; }

/// Returns a request for each copy of the operands.
inline std::vector<cutlass::gemm> gemms_of(const product_pair& p) {
  std::vector<cutlass::gemm> out;
  for (int i = 0; i < p.problem.count; ++i)
    out.push_back(
        {.a = p.a(i),
         .b = p.b(i),
         .d = p.d(i),
         .epilogue = p.epilogue(i),
         .options = {.precision =
                         p.problem.type == raw_matmul_type::tf32 ? cutlass::precision::tf32 : cutlass::precision::exact,
                     .accumulation = p.problem.fast ? cutlass::accumulation::fast : cutlass::accumulation::precise}});
  return out;
}

/// Returns the bytes of a product's operands, not counting what an epilogue reads or writes in addition to D.
inline double bytes_of_operands(const raw_matmul_problem& p) {
  const auto [factor, result] = elements_of(p.type);
  return static_cast<double>(bytes_of(factor)) * (p.m + p.rows_of_b()) * p.k +
         static_cast<double>(bytes_of(result)) * p.m * p.n;
}
/// Returns the problem with more copies of the operands than the level-2 cache can hold.
inline raw_matmul_problem in_copies(raw_matmul_problem p) {
  p.count = copies_beyond_cache(bytes_of_operands(p));
  return p;
}

/// The rates of both sides of a product, and its plan.
struct compared_products {
  pair_of_medians rates{};  ///< TFLOP/s
  cutlass::plan_info info{};
  std::string wrong = {};
};
/// Puts a plan in force, the fastest of `measured` timed plans or the first in the cost model's order, and compares.
inline compared_products compare(const settings& s, const product_pair& p, std::int32_t measured, int rounds) {
  const std::vector<cutlass::gemm> requests = gemms_of(p);
  compared_products out;
  out.info = p.gpu.ask(cutlass::prepare{requests.front(), measured}).get().value();
  const std::span<const cutlass::gemm> all(requests);
  const pair_of_medians seconds = seconds_of_each(
      s.rounds(rounds), p.gpu, all, times_of_turn(s, p.gpu, all), [&](int i) { p.bare->multiply(i); },
      [&] { p.bare->synchronize(); });
  out.rates = {p.operations() / seconds.ours / 1e12, p.operations() / seconds.raw / 1e12};
  out.wrong = p.difference(p.problem.count - 1);
  return out;
}

}  // namespace troupe::bench
