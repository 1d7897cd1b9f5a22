// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that wrong products are refused before they are queued, and the exact error text for each kind of mistake.
#include <troupe/base/complex.hpp>
#include <troupe/cutlass/cutlass.hpp>
#include <troupe/matmul/testing/refusal_suite.hpp>

namespace troupe::cutlass {
namespace {

using namespace matmul::testing;

class cutlass_gemm_checks : public refusal_suite {
 protected:
  gemm good(const expression& e = acc) {
    return {.a = at<float>(0, 4, 6), .b = at<float>(100, 6, 8), .d = at<float>(200, 4, 8), .epilogue = e};
  }
  void expect_refused(const gemm& r, const std::string& text) {
    EXPECT_EQ(memory.refusal(r), "cutlass.gemm: " + text) << describe(r);
    EXPECT_EQ(memory.refusal(prepare{r}), "cutlass.prepare<gemm>: request." + text) << describe(r);
  }
};

TEST_F(cutlass_gemm_checks, valid_requests_are_accepted) {
  expect_fine(good());
  expect_fine(good(relu(acc + epilogue::row(vector_at<float>(300, 8)))));
  expect_fine(gemm{.a = at<half>(0, 4, 6), .b = at<half>(100, 6, 8), .d = at<float8_e4m3>(2000, 4, 8)});
  expect_fine(gemm{.a = at<float8_e4m3>(0, 4, 6), .b = at<float8_e5m2>(100, 6, 8), .d = at<bfloat16>(2000, 4, 8)});
  expect_fine(gemm{.a = at<std::int8_t>(0, 4, 6), .b = at<std::int8_t>(100, 6, 8), .d = at<std::int32_t>(200, 4, 8)});
  expect_fine(gemm{.a = at<half>(0, 4, 6), .b = at<std::int8_t>(100, 6, 8), .d = at<float>(200, 4, 8)});
  expect_fine(gemm{.a = at<float4_e2m1x2>(0, 4, 3), .b = at<bfloat16>(100, 6, 8), .d = at<float>(200, 4, 8)});
  expect_fine(gemm{.a = batch_at<float>(0, 3, 4, 6), .b = at<float>(100, 6, 8), .d = batch_at<float>(200, 3, 4, 8)});
  gemm scattered = good();
  scattered.a = tensor<float>(vector_at<float>(0, 90), {4, 6}, {14, 2});
  expect_fine(scattered);
}

TEST_F(cutlass_gemm_checks, a_refusal_of_extents_names_the_matrix) {
  gemm r = good();
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
  r.d = batch_at<float>(200, 3, 4, 8), r.b = batch_at<float>(400, 2, 6, 8);
  expect_refused(r, "b has 2 matrices (2 x 6 x 8); expected 1 or 3, as d has");
  r = good();
  r.a = tensor<float>(vector_at<float>(0, 16), {2, 2, 2, 2});
  expect_refused(r, "a has 4 axes; expected 2, or 3 for a batch of matrices");
  r = {.a = at<half>(0, 4, 6), .b = at<float4_e2m1x2>(100, 4, 8), .d = at<float>(200, 4, 8)};
  expect_refused(r, "b is 4 x 8; expected 3 rows, as many as a has columns");
}

TEST_F(cutlass_gemm_checks, types_without_a_product_are_refused) {
  const std::string expected =
      "; expected one type for both: f32, f64, f16, bf16 or i8; or f8e4m3 or f8e5m2 for each; or f16 or bf16 with a "
      "narrower type";
  gemm r = good();
  r.a = at<half>(0, 4, 6);
  expect_refused(r, "b holds f32, and a holds f16" + expected);
  r = {.a = at<complex64>(0, 4, 6), .b = at<complex64>(100, 6, 8), .d = at<float>(400, 4, 8)};
  expect_refused(r, "b holds c64, and a holds c64" + expected);
  r = {.a = at<float4_e2m1x2>(0, 4, 3), .b = at<float4_e2m1x2>(100, 3, 8), .d = at<float>(400, 4, 8)};
  expect_refused(r, "b holds f4e2m1x2, and a holds f4e2m1x2" + expected);
  r = {.a = at<std::int8_t>(0, 4, 6), .b = at<float8_e4m3>(100, 6, 8), .d = at<float>(400, 4, 8)};
  expect_refused(r, "b holds f8e4m3, and a holds i8" + expected);
  r = good();
  r.d = at<complex64>(200, 4, 8);
  expect_refused(r, "d holds c64; expected one real number in each element");
}

TEST_F(cutlass_gemm_checks, sums_that_could_overflow_are_refused) {
  expect_refused(
      {.a = at<std::int8_t>(0, 1, 131072), .b = at<std::int8_t>(0, 131072, 1), .d = at<std::int32_t>(40000, 1, 1)},
      "a is 1 x 131072; expected at most 131071 columns, so that no sum of products overflows");
}

TEST_F(cutlass_gemm_checks, unknown_enumerators_are_refused) {
  gemm r = good();
  r.options.precision = static_cast<precision>(9);
  expect_refused(r, "options.precision is 9; expected exact or tf32");
  r = good();
  r.options.accumulation = static_cast<accumulation>(2);
  expect_refused(r, "options.accumulation is 2; expected precise or fast");
  r = good();
  r.options.compiling = static_cast<compiling>(3);
  expect_refused(r, "options.compiling is 3; expected allowed, forbidden or awaited");
}

TEST_F(cutlass_gemm_checks, plans_that_no_kernel_can_have_are_refused) {
  gemm r = good();
  r.options.plan = {.family = static_cast<family>(4)};
  expect_refused(r, "options.plan has family 4; expected any, hopper, ampere or vendor");
  r.options.plan = {.divided = static_cast<decision>(3)};
  expect_refused(r, "options.plan has divided 3; expected any, no or yes");
  r.options.plan = {.tile_m = 24, .tile_n = 8};
  expect_refused(r, "options.plan has a tile of 24 x 8 x 0; expected multiples of 16, 8 and 8, or 0");
  r.options.plan = {.tile_k = 4};
  expect_refused(r, "options.plan has a tile of 0 x 0 x 4; expected multiples of 16, 8 and 8, or 0");
  r.options.plan = {.cluster_m = 4, .cluster_n = 5};
  expect_refused(r, "options.plan has a cluster of 4 x 5 blocks; expected at most 16 blocks, or 0");
}

TEST_F(cutlass_gemm_checks, scales_must_fit_their_factor) {
  const auto scaled = [&](const in_any& a_scales, const in_any& b_scales) {
    return gemm{.a = at<float8_e4m3>(0, 4, 64),
                .b = at<bfloat16>(500, 64, 8),
                .d = at<float>(2000, 4, 8),
                .a_scales = a_scales,
                .b_scales = b_scales};
  };
  const auto fine_a = at<float8_e8m0>(9000, 4, 2), fine_b = at<float8_e8m0>(9100, 2, 8);
  expect_fine(scaled(fine_a, fine_b));
  expect_fine(scaled(at<float>(3000, 4, 1), at<half>(6200, 4, 8)));
  expect_fine(scaled(at<bfloat16>(6000, 1, 4), fine_b));
  expect_refused(scaled(at<float8_e8m0>(9000, 4, 3), fine_b),
                 "a_scales is 4 x 3; expected one scale for each 16, 32, 64 ... elements along k, or one for all 64");
  expect_refused(scaled(fine_a, at<float8_e8m0>(9100, 2, 7)),
                 "b_scales is 2 x 7; expected 8 or 1 columns: a scale for each column, or for 32 columns");
  expect_refused(scaled(at<double>(3000, 4, 2), fine_b),
                 "a_scales holds f64; expected f32, f16, bf16, f8e8m0 or f8e4m3");
  expect_refused(scaled(batch_at<float>(3000, 2, 4, 2), fine_b),
                 "a_scales has 2 matrices (2 x 4 x 2); expected 1, as its factor has");
  expect_refused(scaled(tensor<float>(vector_at<float>(3000, 8), {8}), fine_b),
                 "a_scales has 1 axis; expected 2, or 3 for a batch of matrices");
  gemm r = good();
  r.b_scales = at<float>(300, 1, 8);
  expect_refused(
      r, "b_scales is given for f32; expected none: multiply by a number, row or column in the epilogue instead");
}

TEST_F(cutlass_gemm_checks, a_refusal_of_an_epilogue_operand_names_it) {
  const auto bias = vector_at<float>(300, 7);
  expect_refused(good(acc + epilogue::row(bias)),
                 "epilogue.row[0] has 7 elements; expected 8, one for each column of the result");
  expect_refused(good(acc + load(batch_at<float>(300, 2, 4, 8))),
                 "epilogue.load[0] is for 2 products; expected 1, the number of products");
  const gemm two_halves = good(acc * left);
  EXPECT_EQ(memory.refusal(two_halves), "cutlass.gemm: d is 4 x 8; expected 4 x 4 (rows of a, half the columns of b)");
}

TEST_F(cutlass_gemm_checks, results_that_overlap_operands_are_refused) {
  gemm r = good();
  r.d = at<float>(110, 4, 8);
  EXPECT_EQ(
      memory.refusal(r),
      "cutlass.gemm: d overlaps b; expected separate memory, because one of them is written while the other is in use");
  EXPECT_EQ(memory.refusal(prepare{r}), "") << "prepare does not write d, so d may overlap b";
  expect_fine(good(acc + load(at<float>(200, 4, 8))));
  EXPECT_EQ(memory.refusal(good(acc + load(at<float>(201, 4, 8)))),
            "cutlass.gemm: d overlaps epilogue.load[0]; expected separate memory, because one of them is written while "
            "the other is in "
            "use");
}

TEST_F(cutlass_gemm_checks, measure_must_be_0_to_64) {
  auto p = prepare{good(), 65};
  EXPECT_EQ(memory.refusal(p),
            "cutlass.prepare<gemm>: measure is 65; expected 0 to 64, the number of plans to measure");
  p.measure = -1;
  EXPECT_EQ(memory.refusal(p),
            "cutlass.prepare<gemm>: measure is -1; expected 0 to 64, the number of plans to measure");
  p.measure = 64;
  EXPECT_EQ(memory.refusal(p), "");
}

class cutlass_batched_checks : public refusal_suite {
 protected:
  gemm_batched good(const expression& e = acc) {
    return {.a = {at<float>(0, 4, 6), at<float>(100, 5, 2)},
            .b = {at<float>(200, 6, 8), at<float>(300, 2, 3)},
            .d = {at<float>(400, 4, 8), at<float>(500, 5, 3)},
            .epilogue = e};
  }
  gemm_batched alike(const expression& e) {
    gemm_batched r = good(e);
    r.a[1] = at<float>(100, 4, 6), r.b[1] = at<float>(300, 6, 8), r.d[1] = at<float>(500, 4, 8);
    return r;
  }
  void expect_refused(const gemm_batched& r, const std::string& text) {
    EXPECT_EQ(memory.refusal(r), "cutlass.gemm_batched: " + text) << describe(r);
    EXPECT_EQ(memory.refusal(prepare{r}), "cutlass.prepare<gemm_batched>: request." + text) << describe(r);
  }
};

TEST_F(cutlass_batched_checks, valid_requests_are_accepted) {
  expect_fine(good());
  expect_fine(good(acc * epilogue::number(vector_at<float>(600, 1))));
  expect_fine(good(acc * epilogue::number(at<float>(600, 2, 1))));
  expect_fine(good(absmax_all(at<float>(600, 2, 1), acc)));
  expect_fine(alike(acc + epilogue::row(at<float>(600, 2, 8)) + load(batch_at<float>(700, 2, 4, 8))));
}

TEST_F(cutlass_batched_checks, a_refusal_of_a_list_or_matrix_names_it) {
  gemm_batched r = good();
  r.d = {}, r.a = {}, r.b = {};
  expect_refused(r, "d is empty; expected a matrix for each product");
  r = good();
  r.b.pop_back();
  expect_refused(r, "b has 1 matrix; expected 2, as d has");
  r = good();
  r.a_scales = {at<float>(600, 4, 1)};
  expect_refused(r, "a_scales has 1 matrix; expected 2, as d has, or none");
  r = good();
  r.a[1] = at<float>(100, 5, 3);
  expect_refused(r, "b[1] is 2 x 3; expected 3 rows, as many as a has columns");
  r = good();
  r.d[0] = at<float>(400, 8, 4);
  expect_refused(r, "d[0] is 8 x 4; expected 4 x 8 (rows of a, columns of b)");
  r = good();
  r.a[0] = batch_at<float>(0, 1, 4, 6);
  expect_refused(r, "a[0] has 3 axes; expected 2: a matrix; gemm has batches of matrices");
  r = good();
  r.d[1] = at<half>(1000, 5, 3);
  expect_refused(r, "d[1] holds f16; expected f32, as the first matrix of the list holds");
}

TEST_F(cutlass_batched_checks, epilogue_operands_must_fit_every_result) {
  const auto row = vector_at<float>(600, 8);
  expect_refused(good(acc + epilogue::row(row)),
                 "epilogue.row[0] is for 8 columns, and d[1] has 3; expected results with equal numbers of columns, or "
                 "an operand that fits all results");
  expect_refused(good(acc * epilogue::column(vector_at<float>(600, 4))),
                 "epilogue.column[0] is for 4 rows, and d[1] has 5; expected results with equal numbers of rows, or an "
                 "operand that fits all results");
  expect_refused(good(acc + load(at<float>(600, 4, 8))),
                 "epilogue.load[0] is for 4 rows, and d[1] has 5; expected results with equal numbers of rows, or an "
                 "operand that fits all results");
  EXPECT_EQ(memory.refusal(good(absmax_all(vector_at<float>(600, 1), acc))),
            "cutlass.gemm_batched: epilogue.reduce[0] is for 1 product; expected 2, the number of products; "
            "one more axis has a part for each: for numbers, matrix(buffer, parts, 1)");
  expect_refused(alike(acc + epilogue::row(at<float>(600, 3, 8))),
                 "epilogue.row[0] is for 3 products; expected 2, the number of products");
}

TEST_F(cutlass_batched_checks, overlapping_results_are_refused) {
  gemm_batched r = good();
  r.d[1] = at<float>(410, 5, 3);
  const std::string text = memory.refusal(r);
  EXPECT_EQ(text,
            "cutlass.gemm_batched: d[1] overlaps d[0]; expected separate memory, because one of them is written while "
            "the other "
            "is in use");
}

class cutlass_grouped_checks : public refusal_suite {
 protected:
  gemm_grouped good(const expression& e = acc) {
    return {.a = at<float>(0, 10, 6),
            .b = batch_at<float>(100, 3, 6, 8),
            .d = at<float>(300, 10, 8),
            .sizes = vector_at<std::int32_t>(400, 3),
            .epilogue = e};
  }
  gemm_grouped separate(const expression& e = acc) {
    gemm_grouped r = good(e);
    r.a = batch_at<float>(1000, 3, 10, 6), r.d = batch_at<float>(1200, 3, 10, 8);
    return r;
  }
  void expect_refused(const gemm_grouped& r, const std::string& text) {
    EXPECT_EQ(memory.refusal(r), "cutlass.gemm_grouped: " + text) << describe(r);
    EXPECT_EQ(memory.refusal(prepare{r}), "cutlass.prepare<gemm_grouped>: request." + text) << describe(r);
  }
};

TEST_F(cutlass_grouped_checks, valid_requests_are_accepted) {
  expect_fine(good());
  expect_fine(separate());
  expect_fine(good(acc * epilogue::number(at<float>(600, 3, 1)) + epilogue::row(at<float>(610, 3, 8)) +
                   epilogue::column(vector_at<float>(640, 10)) + load(at<float>(700, 10, 8))));
  expect_fine(good(sum_rows(vector_at<float>(600, 10), max_columns(at<float>(610, 3, 8), acc))));
  expect_fine(good(acc + load(at<float>(300, 10, 8))));
  expect_fine(separate(acc + load(batch_at<float>(1200, 3, 10, 8))));
  expect_fine(separate(sum_rows(at<float>(600, 3, 10), max_columns(at<float>(640, 3, 8), acc))));
}

TEST_F(cutlass_grouped_checks, extents_of_0_are_accepted_unless_rows_without_columns_are_reduced) {
  gemm_grouped r = good();
  r.a = at<float>(0, 0, 6), r.d = at<float>(300, 0, 8);
  expect_fine(r);
  r = good();
  r.a = at<float>(0, 10, 0), r.b = batch_at<float>(100, 3, 0, 8);
  expect_fine(r);
  r = good();
  r.b = batch_at<float>(100, 0, 6, 8), r.sizes = vector_at<std::int32_t>(400, 0);
  expect_fine(r);
  r = good();
  r.b = batch_at<float>(100, 3, 6, 0), r.d = at<float>(300, 10, 0);
  expect_fine(r);
  r.epilogue = sum_rows(vector_at<float>(600, 10), acc);
  expect_refused(
      r,
      "d is 10 x 0; expected at least 1 column, because the epilogue reduces rows, and the rows of each group "
      "are known only when the request runs");
}

TEST_F(cutlass_grouped_checks, a_refusal_of_a_matrix_names_it) {
  gemm_grouped r = good();
  r.b = at<float>(100, 6, 8);
  expect_refused(r, "b has 2 axes; expected 3: a matrix for each group");
  r = good();
  r.a = tensor<float>(vector_at<float>(0, 6), {6});
  expect_refused(r, "a has 1 axis; expected 2 for consecutive groups, or 3 for a matrix for each group");
  r = good();
  r.d = batch_at<float>(300, 1, 10, 8);
  expect_refused(r, "d has 3 axes; expected 2, as a has");
  r = good();
  r.d = at<float>(300, 9, 8);
  expect_refused(r, "d is 9 x 8; expected 10 x 8 (rows of a, columns of b)");
  r = separate();
  r.a = batch_at<float>(1000, 2, 10, 6);
  expect_refused(r, "a is 2 x 10 x 6; expected 3 matrices, one for each group, as b has");
  r = good();
  r.a = at<half>(0, 10, 6);
  expect_refused(r,
                 "b holds f32, and a holds f16; expected one type for both: f32, f64, f16, bf16 or i8; or f8e4m3 or "
                 "f8e5m2 for each; or f16 or bf16 with a narrower type");
  r = good();
  r.sizes = vector_at<std::int32_t>(400, 2);
  expect_refused(r, "sizes holds 2 elements; expected at least 3");
  r = good();
  r.partial_results = static_cast<partial_results>(2);
  expect_refused(r, "partial_results is 2; expected refused or allowed");
}

TEST_F(cutlass_grouped_checks, epilogue_operands_must_have_a_part_for_each_group) {
  expect_refused(good(acc + epilogue::row(at<float>(600, 2, 8))),
                 "epilogue.row[0] is for 2 products; expected 3, one for each group");
  expect_refused(good(acc + epilogue::column(vector_at<float>(600, 3))),
                 "epilogue.column[0] has 3 elements; expected 10, one for each row of the result");
  EXPECT_EQ(memory.refusal(good(sum_columns(vector_at<float>(600, 8), acc))),
            "cutlass.gemm_grouped: epilogue.reduce[0] is for 1 product; expected 3, one for each group; "
            "one more axis has a part for each: for numbers, matrix(buffer, parts, 1)");
  expect_refused(good(acc + load(batch_at<float>(700, 3, 10, 8))),
                 "epilogue.load[0] is for 3 products; expected 1, the number of products");
}

class cutlass_grouped_scales : public cutlass_grouped_checks {
 protected:
  cutlass_grouped_scales() { r.a_scales = at<float>(7000, 64, 2), r.b_scales = batch_at<float>(8000, 2, 2, 1); }

  gemm_grouped r{.a = at<float8_e4m3>(0, 64, 64),
                 .b = batch_at<float8_e4m3>(5000, 2, 64, 32),
                 .d = at<float>(3000, 64, 32),
                 .sizes = vector_at<std::int32_t>(6000, 2)};
};

TEST_F(cutlass_grouped_scales, each_row_of_a_needs_its_own_scale) {
  expect_fine(r);
  r.a_scales = at<float>(7000, 2, 2);
  expect_refused(r, "a_scales is 2 x 2; expected 64 rows: a scale for each row");
}

TEST_F(cutlass_grouped_scales, each_matrix_of_b_needs_its_own_scales) {
  expect_fine(r);
  r.b_scales = batch_at<float>(8000, 3, 2, 1);
  expect_refused(r, "b_scales has 3 matrices (3 x 2 x 1); expected 1 or 2, as its factor has");
}

TEST_F(cutlass_grouped_checks, rows_outside_all_groups_stay_valid) {
  EXPECT_EQ(memory.touched(good(), 2).mode, access_mode::read_write) << "rows beyond the groups keep their content";
  EXPECT_EQ(memory.touched(good(sum_rows(vector_at<float>(600, 10), acc)), 4).mode, access_mode::read_write);
  EXPECT_EQ(memory.touched(prepare{good()}, 2).mode, access_mode::read);
}

TEST_F(cutlass_grouped_checks, the_outcome_names_the_wrong_group) {
  EXPECT_FALSE(error_of(grouped_outcome{}));
  grouped_outcome outcome{.wrong_group = 2, .size = -4, .rows_left = 7};
  const auto wrong = error_of(outcome);
  ASSERT_TRUE(wrong);
  EXPECT_EQ(wrong->reaction(), reaction::caller_bug);
  EXPECT_EQ(
      wrong->text(),
      "cutlass.gemm_grouped: sizes[2] is -4; expected at least 0 and at most 7, the remaining rows: this group and "
      "the groups after it were not computed");
  EXPECT_FALSE(gemm_grouped::failure_in(outcome));
  outcome.partial_results = partial_results::refused;
  const auto failure = gemm_grouped::failure_in(outcome);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->text(),
            "cutlass.gemm_grouped: sizes[2] is -4; expected at least 0 and at most 7, the remaining rows; correct the "
            "sizes, or allow partial_results");
  EXPECT_FALSE(gemm_grouped::failure_in({.partial_results = partial_results::refused}));
}

}  // namespace
}  // namespace troupe::cutlass
