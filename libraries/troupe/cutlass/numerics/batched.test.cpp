// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares many products in one request with the reference in double precision.
#include <functional>
#include <troupe/cutlass/testing/numerics.hpp>
#include <troupe/epilogue/epilogue.hpp>

namespace troupe::cutlass {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op, epilogue::reduction, epilogue::reduction_scope;

class cutlass_gemm_batched : public gemm_suite {
 protected:
  struct extents {
    std::int64_t m, n, k;
  };
  // Runs the products in one request, and compares all that they write with the reference.
  void expect_batch(const factor_types& t, dtype type, const std::vector<extents>& all,
                    const std::function<expression()>& make, double tolerance, bool pairs = false,
                    std::optional<test_scales> scales_of_a = {}, std::optional<test_scales> scales_of_b = {}) {
    std::vector<std::unique_ptr<test_factor>> a, b;
    std::vector<std::unique_ptr<stored_matrices>> d;
    const expression e = make();
    gemm_batched r{.a = {}, .b = {}, .d = {}, .epilogue = e};
    for (const extents& x : all) {
      const auto how = [&] { return random.one_of({storing::anyhow, storing::shifted, storing::scattered}); };
      a.push_back(
          std::make_unique<test_factor>(test_factor::layout{t.a, 1, x.m, x.k, true, how(), scales_of_a}, random));
      b.push_back(std::make_unique<test_factor>(
          test_factor::layout{t.b, 1, x.n * (pairs ? 2 : 1), x.k, false, how(), scales_of_b}, random));
      d.push_back(std::make_unique<stored_matrices>(type, 1, x.m, x.n, random, how()));
      r.a.push_back(a.back()->elements(false)), r.b.push_back(b.back()->elements(false));
      r.d.push_back(d.back()->operand<access_mode::write>(false));
      if (scales_of_a) r.a_scales.push_back(*a.back()->scales(false));
      if (scales_of_b) r.b_scales.push_back(*b.back()->scales(false));
    }
    SCOPED_TRACE(story(r));
    const encoded_tree tree(e);
    std::vector<epilogue::evaluated> expected;
    for (std::size_t i = 0; i < all.size(); ++i) {
      const std::vector<double> x = a[i]->values(0), y = b[i]->values(0);
      expected.push_back(epilogue::evaluate(
          tree.get(), all[i].m, all[i].n,
          [&](std::int64_t row, std::int64_t column) { return sum_of_products(x, row, y, column, all[i].k); },
          static_cast<std::int64_t>(i)));
    }
    run(r);
    if (HasFatalFailure()) return;
    comparison c(tolerance);
    for (std::size_t i = 0; i < all.size(); ++i) {
      EXPECT_TRUE(a[i]->is_untouched() && b[i]->is_untouched() && d[i]->untouched_outside()) << i;
      c.expect(expected[i], *d[i], 0, all[i].m, all[i].n, tree.get(), static_cast<std::int64_t>(i));
    }
  }
  std::int64_t some(std::int64_t most) { return random.between(1, most); }
  std::int64_t even(std::int64_t most) { return 2 * random.between(1, most / 2); }
};

TEST_F(cutlass_gemm_batched, products_of_one_shape_match_the_reference_anywhere_in_memory) {
  for (const factor_types& t : all_pairs) {
    const extents one{some(70), some(70), even(70)};
    const std::vector<extents> all(static_cast<std::size_t>(random.between(1, 9)), one);
    const auto count = static_cast<std::int64_t>(all.size());
    expect_batch(t, any_float(), all, [] { return expression(acc); }, 0);
    expect_batch(
        t, any_float(), all,
        [&] {
          const expression x = 0.5 * acc * loaded(op::load_number, dtype::f32, count, 1, 1) +
                               loaded(op::load_row, dtype::f32, count, 1, one.n) -
                               loaded(op::load, dtype::bf16, 1, one.m, one.n);
          return relu(expression::writing(x + loaded(op::load_column, dtype::f16, count, one.m, 1),
                                          operand(dtype::f32, count, one.m, one.n)));
        },
        rounding_of({t.a, t.b, dtype::f32, one.m, one.n, one.k}, 2));
    if (HasFailure()) return;
  }
}

TEST_F(cutlass_gemm_batched, each_product_of_its_own_shape_may_load_and_reduce_its_own_number) {
  for (const factor_types& t : all_pairs)
    for (int i = 0; i < iterations(4); ++i) {
      std::vector<extents> all;
      for (std::int64_t n = random.between(2, 9); n > 0; --n) all.push_back({some(100), some(100), even(100)});
      const auto count = static_cast<std::int64_t>(all.size());
      expect_batch(t, any_float(), all, [] { return expression(acc); }, 0);
      expect_batch(
          t, any_float(), all,
          [&] {
            const expression x = 0.25 * acc;
            return loaded(op::load_number, dtype::f32, count, 1, 1) *
                   expression::reducing(x, reduction::absolute_maximum, reduction_scope::all,
                                        operand(t.a == dtype::f64 ? dtype::f64 : dtype::f32, count, 1, 1));
          },
          1e-6);
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_gemm_batched, products_with_equally_many_columns_may_share_a_row_and_reduce_columns) {
  for (const factor_types& t : {all_pairs[1], all_pairs[3], all_pairs[5], all_pairs[14]}) {
    const std::int64_t n = some(90);
    std::vector<extents> all;
    for (int i = 0; i < 5; ++i) all.push_back({some(150), n, even(60)});
    const dtype sums = t.a == dtype::f64 ? dtype::f64 : dtype::f32;
    expect_batch(
        t, any_float(), all,
        [&] {
          return expression::reducing(acc, reduction::maximum, reduction_scope::column, operand(sums, 5, 1, n)) +
                 loaded(op::load_row, dtype::f32, 1, 1, n);
        },
        rounding_of({t.a, t.b, dtype::f32, 1, n, 60}, 1));
    expect_batch(t, any_float(), all, [] { return epilogue::left * 2 - epilogue::right; }, 1e-6, true);
    if (HasFailure()) return;
  }
}

TEST_F(cutlass_gemm_batched, products_may_have_extents_of_0) {
  for (const factor_types& t : {all_pairs[1], all_pairs[3], all_pairs[13]})
    expect_batch(
        t, any_float(), {{5, 7, 6}, {0, 9, 4}, {8, 0, 2}, {30, 20, 0}, {0, 0, 0}, {3, 2, 8}},
        [&] {
          return 1 + expression::reducing(acc, reduction::maximum, reduction_scope::all,
                                          operand(t.a == dtype::f64 ? dtype::f64 : dtype::f32, 6, 1, 1));
        },
        0);
}

TEST_F(cutlass_gemm_batched, each_product_has_its_own_scales) {
  for (const factor_types& t : {all_pairs[3], all_pairs[5], all_pairs[11], all_pairs[13]})
    for (const dtype s : {dtype::f32, dtype::f8e8m0}) {
      std::vector<extents> all;
      for (int i = 0; i < 4; ++i) all.push_back({some(100), some(100), 64 * random.between(2, 3)});
      expect_batch(
          t, dtype::f32, all, [] { return expression(acc); }, 0, false, test_scales{s, {1, 64}},
          test_scales{dtype::f32, {64, 64}});
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_gemm_batched, one_request_may_have_large_and_small_products) {
  std::vector<extents> all;
  for (int i = 0; i < 40; ++i) all.push_back({some(8), some(8), even(8)});
  all.insert(all.begin() + 20, {300, 200, 150});
  all.push_back({1, 400, 300});
  expect_batch({dtype::f32, dtype::f32}, dtype::f32, all, [] { return 2 * acc; }, 0);
}

}  // namespace
}  // namespace troupe::cutlass
