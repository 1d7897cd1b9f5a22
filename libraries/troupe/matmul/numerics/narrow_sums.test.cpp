// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that sums of products of 8-bit floats of all magnitudes are as precise as the documentation states.
#include <troupe/matmul/testing/numerics.hpp>

namespace troupe::matmul {
namespace {

using namespace testing;
using epilogue::acc, epilogue::op;

struct narrow_case {
  dtype a, b, d;
  bool has_scales, stores_argument;
  matmul::accumulation accumulation;
};

class sums_of_8_bit_floats : public matmul_numerics {
 protected:
  // Returns the tolerance relative to the sum of the products' magnitudes.
  static double tolerance_of(const narrow_case& c) {
    if (c.accumulation == accumulation::fast) return 1e-3;
    return c.d == dtype::f64 ? 1e-6 : 3e-4;
  }

  test_factor factor(dtype type, std::int64_t lines, std::int64_t k, bool lines_are_rows, bool has_scales) {
    test_factor out({type, 1, lines, k, lines_are_rows, storing::anyhow,
                     has_scales ? std::optional(test_scales{dtype::f32, {1, 128}}) : std::nullopt},
                    random);
    out.make_random(random);
    return out;
  }

  void expect_within_tolerance(const narrow_case& c, std::int64_t m, std::int64_t n, std::int64_t k) {
    test_factor a = factor(c.a, m, k, true, c.has_scales), b = factor(c.b, n, k, false, c.has_scales);
    stored_matrices d(c.d, 1, m, n, random), argument(c.d, 1, m, n, random);
    expression e = acc;
    if (c.stores_argument) {
      const auto o = argument.operand<access_mode::read>(false);
      const batch_of_matrices s = matrices_of(o.shape());
      e = gelu_tanh(expression::writing(e, {.range = o.range(), .shape = s.one, .type = c.d}));
    }
    const multiplication r{.a = a.elements(false),
                           .b = b.elements(false),
                           .d = d.operand<access_mode::write>(false),
                           .epilogue = e,
                           .a_scales = a.scales(false),
                           .b_scales = b.scales(false),
                           .options = {.accumulation = c.accumulation}};
    SCOPED_TRACE(story(r));
    run(r);
    if (HasFatalFailure()) return;
    int wrong = 0;
    for (std::int64_t i = 0; i < m; ++i)
      for (std::int64_t j = 0; j < n; ++j) {
        const auto [sum, magnitude] = sum_at(a, b, 0, i, j, k);
        const auto check = [&](std::string_view what, double got, double want, double derivative, double function) {
          const double allowed = derivative * tolerance_of(c) * magnitude + function * std::max(1.0, std::fabs(want));
          if (!(std::fabs(got - want) <= allowed) && ++wrong < 4)
            ADD_FAILURE() << what << "(" << i << ", " << j << ") is " << got << ", expected " << want << ", within "
                          << allowed;
        };
        if (!c.stores_argument) {
          check("d", d.get(0, i, j).real, sum, 1, 1e-7);
          continue;
        }
        const double root = std::sqrt(2 / std::acos(-1.0));
        check("argument", argument.get(0, i, j).real, sum, 1, 1e-7);
        check("d", d.get(0, i, j).real, sum * (1 + std::tanh(root * (sum + 0.044715 * sum * sum * sum))) / 2, 1.13,
              c.d == dtype::f64 ? 5e-7 : 2e-5);
      }
    EXPECT_EQ(wrong, 0);
    EXPECT_TRUE(d.untouched_outside() && argument.untouched_outside());
  }
};

TEST_F(sums_of_8_bit_floats, rounding_errors_are_within_the_documented_tolerance) {
  constexpr dtype types[] = {dtype::f8e4m3, dtype::f8e5m2};
  for (const dtype a : types)
    for (const dtype b : types)
      for (const dtype d : {dtype::f64, dtype::f32})
        for (const bool has_scales : {false, true})
          for (const bool stores_argument : {false, true})
            for (const auto how : {accumulation::precise, accumulation::fast}) {
              const narrow_case c{a, b, d, has_scales, stores_argument, how};
              // Odd extents, too large for the kernel of small products; then multiples of 16.
              expect_within_tolerance(c, 2 * random.between(20, 80) + 1, 2 * random.between(20, 80) + 1,
                                      2 * random.between(200, 600) + 1);
              expect_within_tolerance(c, 16 * random.between(2, 8), 16 * random.between(2, 8),
                                      128 * random.between(2, 8));
              if (HasFailure()) return;
            }
}

}  // namespace
}  // namespace troupe::matmul
