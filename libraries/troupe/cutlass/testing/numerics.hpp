// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cutlass.hpp>
#include <troupe/matmul/testing/product_suite.hpp>

namespace troupe::cutlass::testing {

using namespace matmul::testing;

struct factor_types {
  dtype a, b;
};
/// Pairs of types that have a product: all with equal types, and some of the mixed ones.
inline constexpr factor_types all_pairs[] = {
    {dtype::f32, dtype::f32},       {dtype::f64, dtype::f64},       {dtype::f16, dtype::f16},
    {dtype::bf16, dtype::bf16},     {dtype::i8, dtype::i8},         {dtype::f8e4m3, dtype::f8e4m3},
    {dtype::f8e4m3, dtype::f8e5m2}, {dtype::f8e5m2, dtype::f8e4m3}, {dtype::f8e5m2, dtype::f8e5m2},
    {dtype::f16, dtype::i8},        {dtype::i8, dtype::bf16},       {dtype::bf16, dtype::f8e4m3},
    {dtype::f8e5m2, dtype::f16},    {dtype::f16, dtype::f4e2m1x2},  {dtype::f4e2m1x2, dtype::bf16}};
inline constexpr dtype all_results[] = {dtype::f32, dtype::f64, dtype::f16, dtype::bf16, dtype::f8e4m3, dtype::f8e5m2,
                                        dtype::i8,  dtype::i16, dtype::u16, dtype::i32,  dtype::boolean};

/// A fixture that compares an engine's products with the reference in double precision.
class gemm_suite : public product_suite {
 protected:
  /// Returns a random product, with any extents, orders and strides.
  test_product any_product(const factor_types& t, dtype d) {
    test_product p = random_product(t.a, t.b, d);
    for (storing* how : {&p.a_stored, &p.b_stored, &p.d_stored})
      *how = random.one_of(
          {storing::anyhow, storing::shifted, storing::scattered, storing::tidy_rows, storing::tidy_columns});
    return whole_elements(p);
  }
  dtype any_float() { return random.one_of({dtype::f32, dtype::f64, dtype::f16, dtype::bf16}); }
  /// Makes the number of terms even if an element of a factor has two.
  static test_product whole_elements(test_product p) {
    if (matmul::k_per_element(p.a) == 2 || matmul::k_per_element(p.b) == 2) p.k += p.k % 2;
    return p;
  }
  /// Returns the number of random cases to test. An engine that compiles a kernel for each kind gets fewer cases, which
  /// differ in each run.
  int iterations(int many) const { return engine->is_cuda() ? std::max(1, many / 4) : many; }

  /// Returns true if a case of a list is skipped: three of four, at random, on an engine that compiles.
  bool skips_case() { return engine->is_cuda() && random.between(0, 3) != 0; }

  static gemm request_of(test_factor& a, bool batch_of_a, test_factor& b, bool batch_of_b, const out_any& d,
                         const expression& e) {
    return {.a = a.elements(batch_of_a),
            .b = b.elements(batch_of_b),
            .d = d,
            .epilogue = e,
            .a_scales = a.scales(batch_of_a),
            .b_scales = b.scales(batch_of_b)};
  }
  /// Runs the product with the epilogue `make(rows, columns)`, and compares all that is written with the reference.
  template <class Make>
  void expect_as_defined(const test_product& p, Make&& make, double tolerance, bool pairs = false) {
    expect_right(p, make, tolerance, pairs, request_of);
  }
  /// Compares a plain product with the exact sums. `unit` is the rounding error of one addition. Adding k products in
  /// any order rounds k times, so the error is at most k * unit * the sum of magnitudes. `unit` is half a unit in the
  /// last place, or a whole one for tensor cores, which truncate.
  static void expect_sums(stored_matrices& d, test_factor& a, test_factor& b, std::int64_t m, std::int64_t n,
                          std::int64_t k, double unit) {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const auto [sum, magnitude] = sum_at(a, b, 0, i, j, k);
        ASSERT_NEAR(d.get(0, i, j).real, sum, static_cast<double>(k) * unit * magnitude)
            << "d(" << i << ", " << j << "); " << numerics::how_to_repeat();
      }
  }
  /// Returns the tolerance of an epilogue of exact sums. An epilogue in float rounds values as large as `factor` times
  /// a sum, a few times; for f64 and integers it is computed in double, with much smaller errors.
  static double rounding_of(const test_product& p, double factor) {
    constexpr double largest_product = 18, steps = 8, half_a_unit = 0x1p-24;
    return 1e-6 + steps * half_a_unit * factor * largest_product * static_cast<double>(p.k);
  }
};

}  // namespace troupe::cutlass::testing
