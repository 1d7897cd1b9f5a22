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
/// All pairs of types that have a product.
inline constexpr factor_types all_pairs[] = {
    {dtype::f32, dtype::f32},       {dtype::f64, dtype::f64},       {dtype::f16, dtype::f16},
    {dtype::bf16, dtype::bf16},     {dtype::i8, dtype::i8},         {dtype::f8e4m3, dtype::f8e4m3},
    {dtype::f8e4m3, dtype::f8e5m2}, {dtype::f8e5m2, dtype::f8e4m3}, {dtype::f8e5m2, dtype::f8e5m2},
    {dtype::f16, dtype::i8},        {dtype::i8, dtype::bf16},       {dtype::bf16, dtype::f8e4m3},
    {dtype::f8e5m2, dtype::f16},    {dtype::f16, dtype::f4e2m1x2},  {dtype::f4e2m1x2, dtype::bf16}};
inline constexpr dtype all_results[] = {dtype::f32, dtype::f64, dtype::f16, dtype::bf16, dtype::f8e4m3, dtype::f8e5m2,
                                        dtype::i8,  dtype::i16, dtype::u16, dtype::i32,  dtype::boolean};

/// Compares an engine's products with the reference in double precision.
class gemm_suite : public product_suite {
 protected:
  /// A problem of any extents, in any order and with any strides.
  product_form any_product(const factor_types& t, dtype d) {
    product_form p = any_form(t.a, t.b, d);
    for (storing* how : {&p.a_stored, &p.b_stored, &p.d_stored})
      *how = random.one_of(
          {storing::anyhow, storing::shifted, storing::scattered, storing::tidy_rows, storing::tidy_columns});
    return whole_elements(p);
  }
  dtype any_float() { return random.one_of({dtype::f32, dtype::f64, dtype::f16, dtype::bf16}); }
  /// A problem with as many terms as whole elements have.
  static product_form whole_elements(product_form p) {
    if (matmul::terms_in(p.a) == 2 || matmul::terms_in(p.b) == 2) p.k += p.k % 2;
    return p;
  }
  /// Compiling each kind of product takes time: an engine that compiles is tested with fewer, and others in each run.
  int turns(int many) const { return engine->is_cuda() ? std::max(1, many / 4) : many; }

  bool leaves_out() { return engine->is_cuda() && random.between(0, 3) != 0; }

  static gemm request_of(test_factor& a, bool batch_of_a, test_factor& b, bool batch_of_b, const out_any& d,
                         const expression& e) {
    return {.a = a.elements(batch_of_a),
            .b = b.elements(batch_of_b),
            .d = d,
            .epilogue = e,
            .a_scales = a.scales(batch_of_a),
            .b_scales = b.scales(batch_of_b)};
  }
  /// Runs the product, with `make(rows, columns)` for its epilogue, and compares everything that it writes.
  template <class Make>
  void expect_as_defined(const product_form& p, Make&& make, double tolerance, bool pairs = false) {
    expect_right(p, make, tolerance, pairs, request_of);
  }
  /// Compares a plain product with its sums. Adding k products in any order rounds each partial sum once, so the error
  /// is at most k units of half the last place times the sum of magnitudes; tensor cores cut where they should round,
  /// which is twice that.
  static void expect_sums(stored_matrices& d, test_factor& a, test_factor& b, std::int64_t m, std::int64_t n,
                          std::int64_t k, double unit) {
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0, magnitude = 0;
        for (std::int64_t l = 0; l < k; ++l) {
          const double x = a.at(0, i, l) * b.at(0, j, l);
          sum += x, magnitude += std::fabs(x);
        }
        ASSERT_NEAR(d.get(0, i, j).real, sum, static_cast<double>(k) * unit * magnitude)
            << "d(" << i << ", " << j << "); " << numerics::how_to_repeat();
      }
  }
  /// The sums are exact. An epilogue in float rounds values of the size of `factor` times a sum a few times; f64 and
  /// the epilogues of integers are computed in double, and are much better.
  static double rounding_of(const product_form& p, double factor) {
    constexpr double largest_product = 18, steps = 8, half_a_unit = 0x1p-24;
    return 1e-6 + steps * half_a_unit * factor * largest_product * static_cast<double>(p.k);
  }
};

}  // namespace troupe::cutlass::testing
