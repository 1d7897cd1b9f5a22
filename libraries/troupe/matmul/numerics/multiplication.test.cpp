// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compares products and epilogues with the reference in double precision.
#include <complex>
#include <functional>
#include <troupe/epilogue/testing/random_epilogue.hpp>
#include <troupe/matmul/testing/numerics.hpp>

namespace troupe::matmul {
namespace {

using namespace testing;
using epilogue::acc;

struct types {
  dtype a, b;
};
constexpr types real_types[] = {
    {dtype::f32, dtype::f32},       {dtype::f64, dtype::f64},       {dtype::f16, dtype::f16},
    {dtype::bf16, dtype::bf16},     {dtype::i8, dtype::i8},         {dtype::f8e4m3, dtype::f8e4m3},
    {dtype::f8e4m3, dtype::f8e5m2}, {dtype::f8e5m2, dtype::f8e4m3}, {dtype::f8e5m2, dtype::f8e5m2}};
constexpr dtype result_types[] = {dtype::f32, dtype::f64, dtype::f16,     dtype::bf16, dtype::f8e4m3, dtype::f8e5m2,
                                  dtype::i8,  dtype::i32, dtype::boolean, dtype::u8,   dtype::i16,    dtype::u32};

TEST_F(matmul_numerics, products_of_all_types_are_exact_if_their_sums_are) {
  for (const types t : real_types)
    for (const dtype d : result_types)
      for (int i = 0; i < 4 && !HasFailure(); ++i)
        expect_as_defined(any_problem(t.a, t.b, d), [](auto, auto) { return expression(acc); }, 0);
}

// If the result has no elements, only reductions are stored: those of no values. If k is 0, all sums are 0.
TEST_F(matmul_numerics, extents_of_0_give_empty_results_or_sums_of_0) {
  using epilogue::op, epilogue::reduction, epilogue::reduction_scope;
  for (const types t : {real_types[0], real_types[1], real_types[3], real_types[4], real_types[6]})
    for (int which = 0; which < 4; ++which)
      for (const std::int64_t large : {20, 300}) {
        problem p{{t.a, t.b, random.one_of({dtype::f32, dtype::bf16}), large, large - 3, 24}};
        p.batch = random.between(1, 3);
        *std::array{&p.m, &p.n, &p.k, &p.batch}[static_cast<std::size_t>(which)] = 0;
        const dtype sums = t.a == dtype::f64 ? dtype::f64 : dtype::f32;
        const auto reduced = [&](const expression& x, reduction how, reduction_scope over) {
          return expression::reducing(x, how, over,
                                      operand(sums, p.batch, over == reduction_scope::row ? p.m : 1,
                                              over == reduction_scope::column ? p.n : 1));
        };
        expect_as_defined(p, [](auto, auto) { return expression(acc); }, 0);
        expect_as_defined(
            p,
            [&](auto rows, auto columns) {
              return relu(2 * acc + loaded(op::load_row, dtype::f32, p.batch, 1, columns)) -
                     0.5 * loaded(op::load, dtype::f16, 1, rows, columns);
            },
            1e-6);
        for (const reduction how : {reduction::sum, reduction::maximum, reduction::absolute_maximum})
          expect_as_defined(
              p,
              [&](auto rows, auto) {
                const expression x = acc + loaded(op::load_column, dtype::f32, p.batch, rows, 1);
                return reduced(reduced(reduced(x, how, reduction_scope::row), how, reduction_scope::column), how,
                               reduction_scope::all);
              },
              1e-5);
        expect_as_defined(p, [](auto, auto) { return epilogue::left * epilogue::right + 1; }, 0, true);
        if (HasFailure()) return;
      }
}

TEST_F(matmul_numerics, complex_products_with_k_0_apply_the_epilogue_to_0) {
  problem p{{dtype::c64, dtype::c64, dtype::c64, 30, 40, 0}};
  expect_as_defined(p, [](auto, auto) { return 2 * acc + 1; }, 0);
}

TEST_F(matmul_numerics, alpha_and_beta_may_be_given_by_value_or_in_memory) {
  for (const types t : real_types)
    for (const double alpha : {0.0, 1.0, -0.5})
      for (const double beta : {0.0, 1.0, 2.0}) {
        const problem p = any_problem(t.a, t.b, result_types[random.between(0, 3)]);
        expect_as_defined(
            p,
            [&](auto rows, auto columns) {
              return alpha * acc +
                     beta * loaded(epilogue::op::load, t.a == dtype::i8 ? dtype::i8 : p.d, p.batch, rows, columns);
            },
            rounding_of(p, 2));
        expect_as_defined(
            p,
            [&](auto rows, auto columns) {
              return loaded(epilogue::op::load_number, dtype::f32, 1, 1, 1) * acc +
                     loaded(epilogue::op::load_column, dtype::f32, p.batch, rows, 1) *
                         loaded(epilogue::op::load, dtype::f16, 1, rows, columns);
            },
            rounding_of(p, 2));
      }
}

TEST_F(matmul_numerics, c_and_d_may_have_lines_of_different_alignment) {
  using enum stored_matrices::storing;
  for (const dtype t : {dtype::f16, dtype::bf16, dtype::f32, dtype::f64})
    for (int i = 0; i < 24 && !HasFailure(); ++i) {
      problem p{{t, t, t, 2 * random.between(40, 100), random.between(60, 140), 8 * random.between(1, 20)}};
      p.batch = i % 4 == 0 ? 2 : 1;
      expect_as_defined(
          p,
          [&](auto rows, auto columns) {
            const auto c = operand(t, p.batch, rows, columns, i % 2 == 0 ? tidy_columns : anyhow);
            return -0.5 * acc + expression::reading(epilogue::op::load, c);
          },
          rounding_of(p, 2));
    }
}

TEST_F(matmul_numerics, bias_activations_stores_and_reductions_match_the_definition) {
  using epilogue::op;
  const std::function<expression(const expression&)> activations[] = {[](const expression& x) { return relu(x); },
                                                                      [](const expression& x) { return gelu(x); },
                                                                      [](const expression& x) { return gelu_tanh(x); },
                                                                      [](const expression& x) { return silu(x); },
                                                                      [](const expression& x) { return tanh(x); },
                                                                      [](const expression& x) { return sigmoid(x); },
                                                                      [](const expression& x) { return softplus(x); },
                                                                      [](const expression& x) { return hard_swish(x); },
                                                                      [](const expression& x) { return clamp(x, -1, 1); },
                                                                      [](const expression& x) { return leaky_relu(x, 0.1); },
                                                                      [](const expression& x) { return exp(min(x, 2)); },
                                                                      [](const expression& x) { return select(x > 0, x, abs(x) * 2); }};
  for (const types t : real_types)
    for (const auto& f : activations) {
      const problem p = any_problem(t.a, t.b, result_types[random.between(0, 3)]);
      expect_as_defined(
          p,
          [&](auto rows, auto columns) {
            expression x = 0.05 * acc + loaded(op::load_row, p.d, p.batch, 1, columns);
            x = expression::writing(x, operand(dtype::bf16, p.batch, rows, columns));
            return expression::reducing(f(x), epilogue::reduction::absolute_maximum, epilogue::reduction_scope::all,
                                        operand(dtype::f32, p.batch, 1, 1));
          },
          rounding_of(p, 0.05 * 8));  // exp(min(x, 2)) has a derivative of up to 8
      if (HasFailure()) return;
    }
}

TEST_F(matmul_numerics, gradients_and_their_sums_match_the_definition) {
  using epilogue::op;
  for (const types t : real_types)
    for (const auto& d : derivatives()) {
      const problem p = any_problem(t.a, t.b, result_types[random.between(0, 3)]);
      expect_as_defined(
          p,
          [&](auto rows, auto columns) {
            const expression g = 0.05 * acc * d(loaded(op::load, dtype::bf16, p.batch, rows, columns));
            const expression s = expression::reducing(g, epilogue::reduction::sum, epilogue::reduction_scope::column,
                                                      operand(dtype::f32, p.batch, 1, columns));
            return expression::reducing(s, epilogue::reduction::maximum, epilogue::reduction_scope::row,
                                        operand(dtype::f32, p.batch, rows, 1));
          },
          rounding_of(p, 0.05 * std::sqrt(static_cast<double>(std::max(p.m, p.n)))));
      if (HasFailure()) return;
    }
}

TEST_F(matmul_numerics, gated_pairs_and_row_and_column_scales_match_the_definition) {
  using epilogue::op;
  for (const types t : real_types)
    for (const dtype d : result_types) {
      const problem p = any_problem(t.a, t.b, d);
      expect_as_defined(
          p,
          [&](auto, auto columns) {
            return silu(0.05 * epilogue::left) * epilogue::right *
                   loaded(op::load_row, dtype::f32, p.batch, 1, columns);
          },
          2e-6, true);
      expect_as_defined(p, [&](auto rows, auto columns) { return scaled_along_both(p.batch, rows, columns); }, 1e-6);
      if (HasFailure()) return;
    }
}

TEST_F(matmul_numerics, random_epilogues_match_the_definition) {
  for (int i = 0; i < 4 * rounds && !HasFailure(); ++i) {
    problem p = any_problem(dtype::f64, dtype::f64, dtype::f64);
    p.batch = 1;
    epilogue::testing::random_epilogue some(static_cast<std::uint64_t>(random.between(0, 1 << 30)), p.m, p.n);
    const expression e = some.make(static_cast<std::size_t>(random.between(1, 5)));
    if (!e.is_too_large()) expect_as_defined(p, [&](auto, auto) { return e; }, 1e-9);
  }
}

TEST_F(matmul_numerics, a_result_may_be_a_matrix_that_the_epilogue_loads) {
  constexpr std::int64_t k = 9, batch = 3;
  for (const dtype t : {dtype::f32, dtype::f64, dtype::bf16})
    for (const std::int64_t n : {1, 5, 64, 300}) {
      test_factor a({t, batch, n, k, true}, random), b({t, batch, n, k, false}, random);
      stored_matrices d(t, batch, n, n, random);
      expect_in_place(
          d, t, batch, n, [&](auto w, auto i, auto j) { return sum_at(a, b, w, i, j, k).sum; },
          [&](const out_any& to, const expression& e) {
            return multiplication{.a = a.elements(true), .b = b.elements(true), .d = to, .epilogue = e};
          });
    }
}

TEST_F(matmul_numerics, complex_products_with_linear_epilogues_match_the_definition) {
  for (const dtype t : {dtype::c64, dtype::c128})
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const problem p = any_problem(t, t, t);
      stored_matrices a(t, p.batch, p.m, p.k, random), b(t, p.batch, p.k, p.n, random), d(t, p.batch, p.m, p.n, random);
      a.fill([&] { return whole(t); });
      b.fill([&] { return whole(t); });
      const expression::memory_operand c = operand(t, p.batch, p.m, p.n), column = operand(t, p.batch, p.m, 1);
      run(multiplication{.a = a.operand<access_mode::read>(true),
                         .b = b.operand<access_mode::read>(true),
                         .d = d.operand<access_mode::write>(true),
                         .epilogue = 0.5 * acc * expression::reading(epilogue::op::load_column, column) -
                                     expression::reading(epilogue::op::load, c)});
      const auto at = [&](const expression::memory_operand& m, std::int64_t w, std::int64_t row, std::int64_t col) {
        const epilogue::memory_operand memory{m.range.address, m.shape, m.batch_stride, m.type, m.mode, {}};
        return read(memory.at(w, row, col), m.type);
      };
      for (std::int64_t w = 0; w < p.batch; ++w)
        for (std::int64_t r = 0; r < p.m; ++r)
          for (std::int64_t q = 0; q < p.n; ++q) {
            std::complex<double> sum = 0;
            for (std::int64_t l = 0; l < p.k; ++l) {
              const element_value x = a.get(w, r, l), y = b.get(w, l, q);
              sum += std::complex<double>(x.real, x.imag) * std::complex<double>(y.real, y.imag);
            }
            const element_value v = at(column, w, r, 0), z = at(c, w, r, q), got = read(d.place(w, r, q), t);
            const std::complex<double> want =
                0.5 * sum * std::complex<double>(v.real, v.imag) - std::complex<double>(z.real, z.imag);
            const double bound = (t == dtype::c64 ? 1e-6 : 1e-14) * std::max(1.0, std::abs(want));
            ASSERT_NEAR(got.real, want.real(), bound);
            ASSERT_NEAR(got.imag, want.imag(), bound);
          }
      EXPECT_TRUE(d.untouched_outside());
    }
}

TEST_F(matmul_numerics, sums_are_as_precise_as_their_type) {
  for (const types t : real_types) {
    if (t.a == dtype::i8) continue;
    const std::int64_t m = 33, n = 29, k = 700;
    test_factor a({t.a, 1, m, k, true}, random), b({t.b, 1, n, k, false}, random);
    stored_matrices d(dtype::f64, 1, m, n, random);
    a.make_random(random), b.make_random(random);
    run(multiplication{.a = a.elements(false), .b = b.elements(false), .d = d.operand<access_mode::write>(false)});
    const double eps = t.a == dtype::f64 ? 0x1p-52 : 0x1p-23;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const auto [sum, magnitude] = sum_at(a, b, 0, i, j, k);
        ASSERT_NEAR(d.get(0, i, j).real, sum, static_cast<double>(k) * eps * magnitude)
            << to_string(t.a) << " " << to_string(t.b);
      }
  }
}

}  // namespace
}  // namespace troupe::matmul
