// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests epilogues that every engine computes together with the product, with operands in a layout that all support.
#include <functional>
#include <troupe/matmul/testing/numerics.hpp>

namespace troupe::matmul {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op, epilogue::reduction, epilogue::reduction_scope;
using enum stored_matrices::storing;

struct kinds {
  dtype factors, d, bias;
};
constexpr kinds all_kinds[] = {{dtype::f32, dtype::f32, dtype::f32},   {dtype::f64, dtype::f64, dtype::f64},
                               {dtype::f16, dtype::f16, dtype::f16},   {dtype::bf16, dtype::bf16, dtype::bf16},
                               {dtype::bf16, dtype::f32, dtype::f32},  {dtype::f8e4m3, dtype::bf16, dtype::bf16},
                               {dtype::f8e4m3, dtype::f16, dtype::f16}};

class fused_products : public matmul_numerics {
 protected:
  // Returns aligned extents that are too large for the kernels of small products.
  static problem tidy(const kinds& t, std::int64_t batch = 1) {
    return {{.a = t.factors,
             .b = t.factors,
             .d = t.d,
             .m = 48,
             .n = 64,
             .k = 272,
             .batch = batch,
             .a_stored = tidy_rows,
             .b_stored = tidy_columns,
             .d_stored = tidy_rows},
            fusion::required};
  }
  expression read(op what, dtype t, std::int64_t batch, std::int64_t rows, std::int64_t columns) {
    return expression::reading(what, operand(t, batch, rows, columns, tidy_rows));
  }
  // Returns a tolerance that covers the approximations of activations in vendors' libraries.
  static double activation_tolerance(const problem& p) { return 2e-5 + rounding_of(p, 0.4); }
};

TEST_F(fused_products, alpha_beta_bias_and_relu_match_the_reference) {
  for (const kinds& t : all_kinds)
    for (const std::int64_t batch : {1, 3}) {
      const problem p = tidy(t, batch);
      const auto bias = [&] { return read(op::load_row, t.bias, batch, 1, p.n); };
      const auto matrix = [&] { return read(op::load, t.d, batch, p.m, p.n); };
      const auto number = [&] { return read(op::load_number, t.d == dtype::f64 ? dtype::f64 : dtype::f32, 1, 1, 1); };
      for (const expression& e : {expression(acc), 0.5 * acc, relu(0.1 * acc + bias()), acc + bias(),
                                  0.25 * acc - 2 * matrix(), number() * acc, acc + number() * matrix(), relu(acc)})
        expect_as_defined(p, [&](auto, auto) { return e; }, rounding_of(p, 2));
      if (HasFailure()) return;
    }
}

TEST_F(fused_products, gelu_its_stored_argument_and_its_gradient_match_the_reference) {
  for (const kinds& t : all_kinds)
    for (const std::int64_t batch : {1, 2}) {
      const problem p = tidy(t, batch);
      expect_as_defined(
          p, [&](auto, auto) { return gelu_tanh(0.05 * acc + read(op::load_row, t.bias, batch, 1, p.n)); },
          activation_tolerance(p));
      expect_as_defined(
          p,
          [&](auto, auto) {
            return gelu_tanh(expression::writing(0.05 * acc, operand(t.d, batch, p.m, p.n, tidy_rows)));
          },
          activation_tolerance(p));
      expect_as_defined(
          p, [&](auto, auto) { return 0.05 * acc * d_gelu_tanh(read(op::load, t.d, batch, p.m, p.n)); },
          activation_tolerance(p));
      if (t.d == dtype::f32 && batch == 1)
        expect_as_defined(
            p,
            [&](auto, auto) {
              return expression::reducing(0.05 * acc * d_gelu_tanh(read(op::load, t.d, 1, p.m, p.n)), reduction::sum,
                                          reduction_scope::column, operand(dtype::f32, 1, 1, p.n, tidy_rows));
            },
            8 * activation_tolerance(p));
      if (HasFailure()) return;
    }
}

TEST_F(fused_products, scaled_float8_products_match_the_reference) {
  const auto number = [&] { return read(op::load_number, dtype::f32, 1, 1, 1); };
  problem p = tidy({dtype::f8e4m3, dtype::bf16, dtype::bf16});
  expect_as_defined(p, [&](auto, auto) { return number() * number() * acc; }, rounding_of(p, 8));
  expect_as_defined(
      p,
      [&](auto, auto) {
        return read(op::load_column, dtype::f32, 1, p.m, 1) * read(op::load_row, dtype::f32, 1, 1, p.n) * acc;
      },
      rounding_of(p, 8));
  p.d = dtype::f8e4m3;
  expect_as_defined(p, [&](auto, auto) { return 0.05 * (number() * number() * number() * acc); }, rounding_of(p, 8));
  for (int i = 0; i < 2; ++i)
    expect_as_defined(
        p,
        [&](auto, auto) {
          const expression x = relu(0.05 * number() * acc);
          return number() * expression::reducing(x, reduction::absolute_maximum, reduction_scope::all,
                                                 operand(dtype::f32, 1, 1, 1, tidy_rows));
        },
        rounding_of(p, 8));
}

}  // namespace
}  // namespace troupe::matmul
