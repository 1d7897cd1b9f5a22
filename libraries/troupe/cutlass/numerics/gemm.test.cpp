// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares products without or with simple epilogues with the reference in double precision.
#include <troupe/cutlass/testing/numerics.hpp>
#include <troupe/epilogue/epilogue.hpp>

namespace troupe::cutlass {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op;

class cutlass_gemm : public gemm_suite {};

TEST_F(cutlass_gemm, products_of_all_types_are_exact_for_small_integers) {
  for (const factor_types& t : all_pairs)
    for (const dtype d : all_results)
      for (int i = 0; i < iterations(4) && !HasFailure(); ++i)
        expect_as_defined(any_product(t, d), [](auto, auto) { return expression(acc); }, 0);
}

TEST_F(cutlass_gemm, operands_may_have_any_layout) {
  for (const factor_types& t : all_pairs)
    for (const auto a : {storing::tidy_rows, storing::tidy_columns, storing::scattered})
      for (const auto b : {storing::tidy_rows, storing::tidy_columns, storing::scattered}) {
        for (const auto d : {storing::tidy_rows, storing::tidy_columns, storing::shifted, storing::scattered}) {
          test_product p{t.a, t.b, any_float(), random.between(1, 70), random.between(1, 70), random.between(1, 70)};
          p.a_stored = a, p.b_stored = b, p.d_stored = d;
          expect_as_defined(whole_elements(p), [](auto, auto) { return expression(acc); }, 0);
          if (HasFailure()) return;
          if (engine->is_cuda()) break;
        }
      }
}

// Tests extents just below and above those of tiles, along each axis.
TEST_F(cutlass_gemm, extents_need_not_be_multiples_of_a_tile) {
  constexpr std::int64_t sides[] = {1, 2, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 128, 129, 255, 256, 257};
  for (const factor_types& t : {all_pairs[0], all_pairs[2], all_pairs[4], all_pairs[5], all_pairs[9], all_pairs[14]})
    for (const std::int64_t side : sides)
      for (int which = 0; which < 3 && !HasFailure(); ++which) {
        test_product p{t.a, t.b, dtype::f32, 65, 72, 40};
        *std::array{&p.m, &p.n, &p.k}[static_cast<std::size_t>(which)] = side;
        p.a_stored = storing::tidy_rows, p.b_stored = storing::tidy_columns, p.d_stored = storing::tidy_rows;
        expect_as_defined(whole_elements(p), [](auto, auto) { return expression(acc); }, 0);
      }
}

// If the result has no elements, only reductions of no values are written. If k is 0, the sums are 0.
TEST_F(cutlass_gemm, extents_of_0_give_empty_results_or_sums_of_0) {
  using epilogue::reduction, epilogue::reduction_scope;
  for (const factor_types& t : {all_pairs[1], all_pairs[3], all_pairs[4], all_pairs[5], all_pairs[13]})
    for (int which = 0; which < 4; ++which) {
      if (skips_case()) continue;
      test_product p{t.a, t.b, any_float(), random.between(1, 150), random.between(1, 150), 24};
      p.batch = random.between(1, 3);
      *std::array{&p.m, &p.n, &p.k, &p.batch}[static_cast<std::size_t>(which)] = 0;
      const auto reduced = [&](const expression& x, reduction how, reduction_scope over) {
        return expression::reducing(
            x, how, over,
            operand(t.a == dtype::f64 ? dtype::f64 : dtype::f32, p.batch, over == reduction_scope::row ? p.m : 1,
                    over == reduction_scope::column ? p.n : 1));
      };
      expect_as_defined(p, [](auto, auto) { return expression(acc); }, 0);
      expect_as_defined(
          p,
          [&](auto rows, auto columns) {
            const expression x = epilogue::relu(2 * acc + loaded(op::load_row, dtype::f32, p.batch, 1, columns)) -
                                 0.5 * loaded(op::load, dtype::f16, 1, rows, columns);
            return reduced(reduced(reduced(x, reduction::absolute_maximum, reduction_scope::row), reduction::maximum,
                                   reduction_scope::column),
                           reduction::sum, reduction_scope::all);
          },
          1e-4);
      expect_as_defined(p, [](auto, auto) { return epilogue::left * epilogue::right + 1; }, 0, true);
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_gemm, products_may_have_a_k_of_1) {
  for (const factor_types& t : all_pairs) {
    test_product p = any_product(t, dtype::f32);
    p.k = 1;
    expect_as_defined(whole_elements(p), [](auto, auto) { return expression(acc); }, 0);
    if (HasFailure()) return;
  }
}

TEST_F(cutlass_gemm, products_may_have_one_row_or_one_column) {
  for (const factor_types& t : all_pairs)
    for (const bool row : {true, false}) {
      test_product p = any_product(t, dtype::f32);
      (row ? p.m : p.n) = 1;
      expect_as_defined(p, [](auto, auto) { return expression(acc); }, 0);
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_gemm, batches_may_share_either_factor) {
  for (const factor_types& t : all_pairs)
    for (int shared = 0; shared < 3; ++shared) {
      test_product p = any_product(t, any_float());
      p.batch = random.between(2, 5), p.shares_a = shared == 1, p.shares_b = shared == 2;
      expect_as_defined(p, [](auto, auto) { return expression(acc); }, 0);
      if (HasFailure()) return;
    }
}

TEST_F(cutlass_gemm, alpha_and_beta_may_be_constants_or_in_memory) {
  for (const factor_types& t : all_pairs)
    for (const double alpha : {0.0, 1.0, -0.5})
      for (const double beta : {0.0, 1.0, 2.0}) {
        if (skips_case()) continue;
        const test_product p = any_product(t, any_float());
        expect_as_defined(
            p,
            [&](auto rows, auto columns) {
              return alpha * acc + beta * loaded(op::load, t.a == dtype::i8 ? dtype::i8 : p.d, p.batch, rows, columns);
            },
            rounding_of(p, 2));
        expect_as_defined(
            p,
            [&](auto rows, auto columns) {
              return loaded(op::load_number, dtype::f32, 1, 1, 1) * acc +
                     loaded(op::load_column, dtype::f32, p.batch, rows, 1) *
                         loaded(op::load, dtype::f16, 1, rows, columns);
            },
            rounding_of(p, 2));
        if (HasFailure()) return;
      }
}

TEST_F(cutlass_gemm, rounding_errors_are_within_the_bound_of_the_sum_type) {
  for (const factor_types& t : all_pairs) {
    if (t.a == dtype::i8 && t.b == dtype::i8) continue;
    constexpr std::int64_t m = 33, n = 29, k = 700;
    test_factor a({t.a, 1, m, k, true}, random), b({t.b, 1, n, k, false}, random);
    if (t.a != dtype::f4e2m1x2 && t.a != dtype::i8) a.make_random(random);
    if (t.b != dtype::f4e2m1x2 && t.b != dtype::i8) b.make_random(random);
    stored_matrices d(dtype::f64, 1, m, n, random);
    run(gemm{.a = a.elements(false), .b = b.elements(false), .d = d.operand<access_mode::write>(false)});
    SCOPED_TRACE(cat(to_string(t.a), " ", to_string(t.b)));
    expect_sums(d, a, b, m, n, k, t.a == dtype::f64 ? 0x1p-52 : 0x1p-23);
    if (HasFatalFailure()) return;
  }
}

// Truncation would make all factors smaller, by half of the last of 10 bits on average, and the products by 6.5e-4.
TEST_F(cutlass_gemm, tf32_factors_are_rounded_without_bias) {
  constexpr std::int64_t m = 70, n = 66, k = 300;
  const plan any, ampere{.family = family::ampere};
  for (const auto& [a_stored, b_stored, p] : {std::tuple{storing::tidy_rows, storing::tidy_columns, any},
                                              {storing::tidy_columns, storing::tidy_rows, any},
                                              {storing::scattered, storing::tidy_columns, any},
                                              {storing::tidy_rows, storing::tidy_columns, ampere}}) {
    if (p != any && !engine->is_cuda()) continue;
    stored_matrices a(dtype::f32, 1, m, k, random, a_stored), b(dtype::f32, 1, k, n, random, b_stored),
        d(dtype::f64, 1, m, n, random);
    for (auto* x : {&a, &b})
      x->fill([&] { return element_value{1 + static_cast<double>(random.between(0, (1 << 23) - 1)) * 0x1p-23, 0}; });
    run(gemm{.a = a.operand<access_mode::read>(false),
             .b = b.operand<access_mode::read>(false),
             .d = d.operand<access_mode::write>(false),
             .options = {.precision = precision::tf32, .plan = p}});
    double mean = 0;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (std::int64_t l = 0; l < k; ++l) sum += a.get(0, i, l).real * b.get(0, l, j).real;
        const double error = d.get(0, i, j).real / sum - 1;
        ASSERT_NEAR(error, 0, 0x1p-10) << i << " " << j;
        mean += error / (m * n);
      }
    EXPECT_NEAR(mean, 0, 5e-5) << to_string(p) << "; " << numerics::how_to_repeat();
  }
}

TEST_F(cutlass_gemm, sums_of_i8_are_exact_beyond_the_integers_of_a_float) {
  constexpr std::int64_t k = 3000;
  stored_matrices a(dtype::i8, 1, 3, k, random), b(dtype::i8, 1, k, 5, random), d(dtype::i32, 1, 3, 5, random);
  for (auto* m : {&a, &b}) m->fill([&] { return element_value{-128, 0}; });
  run(gemm{.a = a.operand<access_mode::read>(false),
           .b = b.operand<access_mode::read>(false),
           .d = d.operand<access_mode::write>(false)});
  for (std::int64_t i = 0; i < 3; ++i)
    for (std::int64_t j = 0; j < 5; ++j) EXPECT_EQ(d.get(0, i, j).real, 128.0 * 128 * k);
}

TEST_F(cutlass_gemm, the_epilogue_may_load_the_result_in_place) {
  for (const dtype t : {dtype::f32, dtype::f64, dtype::bf16})
    for (const std::int64_t n : {1, 5, 64, 300}) {
      constexpr std::int64_t k = 9, batch = 3;
      test_factor a({t, batch, n, k, true}, random), b({t, batch, n, k, false}, random);
      stored_matrices d(t, batch, n, n, random, storing::shifted);
      expect_in_place(
          d, t, batch, n, [&](auto w, auto i, auto j) { return sum_at(a, b, w, i, j, k).sum; },
          [&](const out_any& to, const expression& e) {
            return gemm{.a = a.elements(true), .b = b.elements(true), .d = to, .epilogue = e};
          });
    }
}

TEST_F(cutlass_gemm, a_product_runs_in_the_least_workspace) {
  test_product p{dtype::f8e4m3, dtype::f8e4m3, dtype::bf16, 40, 50, 60};
  p.d_stored = storing::tidy_rows;
  std::uint64_t workspace = 0;
  const auto limited = [&](auto&&... parts) {
    gemm r = request_of(parts...);
    r.options.workspace = workspace;
    return r;
  };
  const auto plain = [](auto, auto) { return expression(acc); };
  test_factor a({p.a, 1, p.m, p.k, true}, random), b({p.b, 1, p.n, p.k, false}, random);
  stored_matrices d(p.d, 1, p.m, p.n, random, p.d_stored);
  const auto refused = engine->run(limited(a, false, b, false, d.operand<access_mode::write>(false), plain(0, 0)));
  if (!engine->is_cuda()) {
    ASSERT_FALSE(refused) << "8-bit floats are copied";
    const std::string text = refused.error().text();
    ASSERT_EQ(text.find("cutlass.gemm: workspace is 0 bytes; the host engine needs at least "), 0u) << text;
    workspace = std::stoull(text.substr(text.find("least ") + 6));
  }
  expect_right(p, plain, 0, false, limited);
}

}  // namespace
}  // namespace troupe::cutlass
