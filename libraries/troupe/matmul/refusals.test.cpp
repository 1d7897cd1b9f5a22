// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that wrong requests are refused before they are queued, and the exact error text for each kind of mistake.
#include <troupe/base/complex.hpp>
#include <troupe/matmul/matmul.hpp>
#include <troupe/matmul/testing/refusal_suite.hpp>

namespace troupe::matmul {
namespace {

using namespace testing;

class matmul_checks : public refusal_suite {
 protected:
  multiplication good(const expression& e = acc) {
    return {.a = at<float>(0, 4, 6), .b = at<float>(100, 6, 8), .d = at<float>(200, 4, 8), .epilogue = e};
  }
  void expect_refused(const multiplication& r, const std::string& text) {
    EXPECT_EQ(memory.refusal(r), "matmul.multiplication: " + text) << describe(r);
  }
};

TEST_F(matmul_checks, valid_requests_are_accepted) {
  expect_fine(good());
  expect_fine(good(relu(acc + epilogue::row(vector_at<float>(300, 8)))));
  expect_fine(multiplication{.a = at<half>(0, 4, 6), .b = at<half>(100, 6, 8), .d = at<float8_e4m3>(2000, 4, 8)});
  expect_fine(
      multiplication{.a = at<float8_e4m3>(0, 4, 6), .b = at<float8_e5m2>(100, 6, 8), .d = at<bfloat16>(2000, 4, 8)});
  expect_fine(
      multiplication{.a = at<std::int8_t>(0, 4, 6), .b = at<std::int8_t>(100, 6, 8), .d = at<std::int32_t>(200, 4, 8)});
  expect_fine(
      multiplication{.a = batch_at<float>(0, 3, 4, 6), .b = at<float>(100, 6, 8), .d = batch_at<float>(200, 3, 4, 8)});
  expect_fine(multiplication{
      .a = at<float>(0, 4, 6).transposed(), .b = at<float>(100, 8, 4).transposed(), .d = at<float>(200, 6, 8)});
}

TEST_F(matmul_checks, extents_of_0_are_accepted) {
  const auto product = [&](std::int64_t m, std::int64_t n, std::int64_t k) {
    return multiplication{.a = at<float>(0, m, k), .b = at<float>(100, k, n), .d = at<float>(200, m, n)};
  };
  for (const auto& r : {product(0, 8, 6), product(4, 0, 6), product(4, 8, 0), product(0, 0, 0)}) expect_fine(r);
  expect_fine(
      multiplication{.a = batch_at<float>(0, 0, 4, 6), .b = at<float>(100, 6, 8), .d = batch_at<float>(200, 0, 4, 8)});
  multiplication r = product(4, 8, 0);
  r.b = at<float>(100, 1, 8);
  expect_refused(r, "b is 1 x 8; expected 0 rows, as many as a has columns");
}

TEST_F(matmul_checks, errors_about_extents_name_the_matrix) {
  multiplication r = good();
  r.b = at<float>(100, 5, 8);
  expect_refused(r, "b is 5 x 8; expected 6 rows, as many as a has columns");
  r = good();
  r.d = at<float>(200, 8, 4);
  expect_refused(r, "d is 8 x 4; expected 4 x 8 (rows of a, columns of b)");
  r = good(silu(left) * right);
  expect_refused(r, "d is 4 x 8; expected 4 x 4 (rows of a, half the columns of b)");
  r.b = at<float>(100, 6, 7);
  expect_refused(r, "b is 6 x 7; expected an even number of columns, because the epilogue pairs them");
  r = good();
  r.a = batch_at<float>(0, 3, 4, 6);
  expect_refused(r, "a has 3 matrices (3 x 4 x 6); expected 1, as d has");
  r = good();
  r.a = tensor<float>(vector_at<float>(0, 16), {2, 2, 2, 2});
  expect_refused(r, "a has 4 axes; expected 2, or 3 for a batch of matrices");
}

TEST_F(matmul_checks, types_without_a_product_are_refused) {
  multiplication r = good();
  r.a = at<half>(0, 4, 6);
  expect_refused(r,
                 "b holds f32, and a holds f16; expected one type for both: f32, f64, f16, bf16, i8, f4e2m1x2, c64 or "
                 "c128; or f8e4m3 or f8e5m2 for each");
  r = {.a = at<complex64>(0, 4, 6), .b = at<complex64>(100, 6, 8), .d = at<float>(400, 4, 8)};
  expect_refused(r, "d holds f32; expected c64, the type of a and b");
  r = good();
  r.d = at<complex64>(200, 4, 8);
  expect_refused(r, "d holds c64; expected one real number in each element");
}

TEST_F(matmul_checks, matrices_without_contiguous_lines_are_refused) {
  multiplication r = good();
  r.a = tensor<float>(vector_at<float>(0, 90), {4, 6}, {14, 2});
  expect_refused(r, "a is 4 x 6 with strides 14, 2; expected contiguous rows or contiguous columns");
}

TEST_F(matmul_checks, sums_that_could_overflow_are_refused) {
  expect_refused(
      {.a = at<std::int8_t>(0, 1, 131072), .b = at<std::int8_t>(0, 131072, 1), .d = at<std::int32_t>(40000, 1, 1)},
      "a is 1 x 131072; expected at most 131071 columns, so that no sum of products overflows");
}

TEST_F(matmul_checks, unknown_options_are_refused) {
  multiplication r = good();
  r.options.precision = static_cast<precision>(9);
  expect_refused(r, "options.precision is 9; expected exact, tf32, bf16, f16 or bf16x9");
  r = good();
  r.options.fusion = static_cast<fusion>(2);
  expect_refused(r, "options.fusion is 2; expected allowed or required");
  r = good();
  r.options.accumulation = static_cast<accumulation>(2);
  expect_refused(r, "options.accumulation is 2; expected precise or fast");
  r = good();
  r.options.repeatability = static_cast<repeatability>(2);
  expect_refused(r, "options.repeatability is 2; expected within_a_process or between_processes");
  r = good();
  r.options.multiprocessors = -1;
  expect_refused(r, "options.multiprocessors is -1; expected at least 0 (0: all)");
}

TEST_F(matmul_checks, scales_that_do_not_fit_their_factor_are_refused) {
  const auto scaled = [&](const in_any& a_scales, const in_any& b_scales) {
    return multiplication{.a = at<float8_e4m3>(0, 4, 64),
                          .b = at<float8_e4m3>(1000, 64, 8),
                          .d = at<float>(2000, 4, 8),
                          .a_scales = a_scales,
                          .b_scales = b_scales};
  };
  const auto fine_a = at<float8_e8m0>(5000, 4, 2), fine_b = at<float8_e8m0>(5100, 2, 8);
  expect_fine(scaled(fine_a, fine_b));
  expect_fine(scaled(at<float>(3000, 4, 1), at<float>(3100, 1, 1)));
  expect_refused(scaled(at<float8_e8m0>(5000, 4, 3), fine_b),
                 "a_scales is 4 x 3; expected 4 x 2: one scale for each 32 elements along k");
  expect_refused(scaled(fine_a, at<float8_e8m0>(5100, 8, 2)),
                 "b_scales is 8 x 2; expected 2 x 8: one scale for each 32 elements along k");
  expect_refused(scaled(at<float>(3000, 2, 1), fine_b),
                 "a_scales is 2 x 1; expected 4 x 1, or 1 x 1: one scale for each 128 elements along k");
  expect_refused(scaled(at<half>(3000, 4, 2), fine_b),
                 "a_scales holds f16 for elements of f8e4m3; expected f8e8m0 or f32 for f8e4m3 and f8e5m2, f8e4m3 for "
                 "f4e2m1x2");
  multiplication r = scaled(fine_a, fine_b);
  r.b_scales.reset();
  expect_refused(r, "a_scales is set without b_scales; expected both or neither");
  r = {.a = at<float4_e2m1x2>(0, 4, 32), .b = at<float4_e2m1x2>(1000, 32, 8), .d = at<float>(2000, 4, 8)};
  expect_refused(r, "a holds f4e2m1x2 without scales; expected a_scales and b_scales");
  r.a_scales = at<float8_e4m3>(5000, 4, 4), r.b_scales = at<float8_e4m3>(5100, 4, 8);
  expect_fine(r);
}

TEST_F(matmul_checks, prepare_is_checked_like_the_product) {
  const auto refusal = [&](const auto& p) { return memory.refusal(p); };
  EXPECT_EQ(refusal(prepare{good()}), "");
  EXPECT_EQ(refusal(prepare{good(acc + load(at<float>(201, 4, 8)))}), "")
      << "prepare does not write d, so d may overlap an operand";
  multiplication r = good();
  r.b = at<float>(100, 5, 8);
  EXPECT_EQ(refusal(prepare{r}),
            "matmul.prepare<multiplication>: request.b is 5 x 8; expected 6 rows, as many as a has columns");
  EXPECT_EQ(refusal(prepare{good(), 65}),
            "matmul.prepare<multiplication>: measure is 65; expected 0 to 64, the number of plans to measure");
  auto p = prepare{good(), 1};
  p.options.choice.words[9] = 1;
  EXPECT_EQ(refusal(p),
            "matmul.prepare<multiplication>: options.choice is set, and measure is 1; expected only one of the two");
  p = prepare{good()};
  p.options.chosen = vector_at<std::uint64_t>(400, 9);
  EXPECT_EQ(refusal(p).find("matmul.prepare<multiplication>: options.chosen holds 9 elements"), 0u) << refusal(p);
}

TEST_F(matmul_checks, errors_name_the_operand_of_the_epilogue) {
  const auto bias = vector_at<float>(300, 7);
  expect_refused(good(acc + epilogue::row(bias)),
                 "epilogue.row[0] has 7 elements; expected 8, one for each column of the result");
  expect_refused(good(acc + epilogue::column(bias)),
                 "epilogue.column[0] has 7 elements; expected 4, one for each row of the result");
  expect_refused(good(acc + epilogue::row(vector_at<float>(300, 8)) * epilogue::row(bias)),
                 "epilogue.row[1] has 7 elements; expected 8, one for each column of the result");
  expect_refused(good(acc + load(at<float>(300, 8, 4))),
                 "epilogue.load[0] is 8 x 4; expected 4 x 8, the extents of the result");
  expect_refused(good(store(at<half>(700, 4, 7), acc)),
                 "epilogue.store[0] is 4 x 7; expected 4 x 8, the extents of the result");
  expect_refused(good(acc + load(batch_at<float>(300, 2, 4, 8))),
                 "epilogue.load[0] is for 2 products; expected 1, the number of products");
  expect_refused(good(sum_columns(vector_at<half>(700, 8), acc)),
                 "epilogue.reduce[0] holds f16; expected f32, the type in which the values are combined");
  expect_refused(good(sum_rows(vector_at<float>(400, 8), acc)),
                 "epilogue.reduce[0] has 8 elements; expected 4, one for each row of the result");
  expect_refused(good(acc + load(at<complex64>(300, 4, 8))),
                 "epilogue.load[0] holds c64; expected one real number in each element");
  const auto sums = vector_at<float>(400, 8);
  expect_refused(good(sum_columns(sums, acc) + sum_columns(sums, acc * 2)),
                 "epilogue.reduce[0] is written twice; expected separate memory for each value that is written");
  expect_refused(good(epilogue::convert<complex64>(acc)),
                 "epilogue converts to c64; expected a type with one real number in each element");
  multiplication both = good(acc * left);
  both.d = at<float>(200, 4, 4);
  expect_refused(both, "epilogue has acc beside left or right; expected either acc, or left and right");
  expression large = acc;
  for (int i = 0; i < 40; ++i) large = large * (i + 2) + i + 1;
  expect_refused(
      good(large),
      "epilogue is too large; expected at most 64 operations, 32 different numbers and 16 operands in memory");
}

TEST_F(matmul_checks, functions_of_complex_numbers_are_refused) {
  multiplication r{.a = at<complex64>(0, 4, 6), .b = at<complex64>(100, 6, 8), .d = at<complex64>(400, 4, 8)};
  expect_fine(r);
  r.epilogue = relu(acc);
  expect_refused(r, "epilogue has relu of complex numbers; expected only sums, differences, products and quotients");
}

TEST_F(matmul_checks, results_that_overlap_operands_are_refused) {
  multiplication r = good();
  r.d = at<float>(110, 4, 8);
  expect_refused(r, "d overlaps b; expected separate memory, because one of them is written while the other is in use");
  expect_fine(good(acc + load(at<float>(200, 4, 8))));
  expect_refused(good(acc + load(at<float>(201, 4, 8))),
                 "d overlaps epilogue.load[0]; expected separate memory, because one of them is written while the "
                 "other is in use");
  expect_refused(good(store(at<float>(200, 4, 8), acc)),
                 "epilogue.store[0] overlaps d; expected separate memory, because one of them is written while the "
                 "other is in use");
}

}  // namespace
}  // namespace troupe::matmul
