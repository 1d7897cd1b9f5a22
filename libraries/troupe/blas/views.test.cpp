// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests which requests on plain buffers operations on views are sent as, and the texts of their errors.
#include <gtest/gtest.h>

#include <troupe/blas/views.hpp>
#include <troupe/request/testing/fake_memory.hpp>

namespace troupe::blas {
namespace {

matrix_shape by_rows(std::int64_t rows, std::int64_t columns) { return {rows, columns, columns, 1}; }
matrix_shape by_columns(std::int64_t rows, std::int64_t columns) { return {rows, columns, 1, rows}; }

class blas_view_requests : public ::testing::Test {
 protected:
  template <access_mode M>
  matrix_operand<float, M> at(std::uint64_t first, const matrix_shape& s) {
    const std::int64_t span = (s.rows - 1) * s.row_stride + (s.columns - 1) * s.column_stride + 1;
    return {memory.at<float>(first, static_cast<std::uint64_t>(span)), s};
  }
  multiplication<float> product(const matrix_shape& a, const matrix_shape& b, const matrix_shape& c) {
    return {
        .a = at<access_mode::read>(0, a), .b = at<access_mode::read>(100, b), .c = at<access_mode::read_write>(200, c)};
  }
  troupe::testing::fake_memory memory{0x10000};
};

TEST_F(blas_view_requests, a_product_stored_by_columns_is_sent_as_it_is) {
  const multiplication<float> r = product(by_rows(2, 3), by_columns(3, 4), by_columns(2, 4));
  EXPECT_EQ(memory.refusal(r), "");
  const gemm<float> sent = r.to_request();
  EXPECT_EQ(sent.a.range().address, r.a.range().address);
  EXPECT_EQ(sent.m, 2);
  EXPECT_EQ(sent.n, 4);
  EXPECT_EQ(sent.k, 3);
  EXPECT_EQ(sent.trans_a, op::transpose);
  EXPECT_EQ(sent.trans_b, op::none);
  EXPECT_EQ(sent.lda, 3);
  EXPECT_FALSE(r.exchanges_operands());
}

TEST_F(blas_view_requests, a_product_stored_by_rows_exchanges_its_factors) {
  const multiplication<float> r = product(by_rows(2, 3), by_columns(3, 4), by_rows(2, 4));
  EXPECT_EQ(memory.refusal(r), "");
  const gemm<float> sent = r.to_request();
  EXPECT_EQ(sent.a.range().address, r.b.range().address);
  EXPECT_EQ(sent.b.range().address, r.a.range().address);
  EXPECT_EQ(sent.m, 4);
  EXPECT_EQ(sent.n, 2);
  EXPECT_EQ(sent.trans_a, op::transpose);
  EXPECT_EQ(sent.trans_b, op::none);
  EXPECT_EQ(sent.ldc, 4);
  EXPECT_TRUE(r.exchanges_operands());
}

TEST_F(blas_view_requests, refusals_name_the_fields_of_the_view_request) {
  multiplication<float> r = product(by_rows(2, 3), by_rows(3, 4), by_rows(2, 4));
  r.c = at<access_mode::read_write>(104, by_rows(2, 4));
  EXPECT_EQ(memory.refusal(r),
            "blas.multiplication<f32>: c overlaps b; expected separate memory, because one of them is written while "
            "the other is in use");
  r = product(by_rows(2, 3), by_rows(2, 3), by_rows(2, 4));
  EXPECT_EQ(memory.refusal(r),
            "blas.multiplication<f32>: b is 2 x 3; expected 3 rows, as many as a has columns: a is 2 x 3");
  r = product(by_rows(2, 3), by_rows(3, 4), {2, 4, 9, 2});
  EXPECT_EQ(
      memory.refusal(r),
      "blas.multiplication<f32>: c has strides 9 and 2; expected contiguous rows or contiguous columns: one stride "
      "of 1");
  r = product(by_rows(2, 3), by_rows(3, 4), by_rows(2, 4));
  r.math = static_cast<math_mode>(77);
  EXPECT_EQ(memory.refusal(r), "blas.multiplication<f32>: math is 77; expected exact, tf32, bf16, f16 or bf16x9");
  triangular_solution<float> s{.a = at<access_mode::read>(0, by_rows(3, 3)),
                               .b = at<access_mode::read_write>(100, by_rows(3, 2))};
  EXPECT_EQ(memory.refusal(s), "");
  s.uplo = static_cast<triangle>(9);
  EXPECT_EQ(memory.refusal(s), "blas.triangular_solution<f32>: uplo is 9; expected lower or upper");
}

TEST_F(blas_view_requests, a_sum_may_replace_a_summand_only_if_the_strides_are_equal) {
  const auto sum = [&](const matrix_shape& a, const matrix_shape& c) {
    return memory.refusal(addition<float>{.a = at<access_mode::read>(0, a),
                                          .b = at<access_mode::read>(100, by_rows(2, 2)),
                                          .c = at<access_mode::write>(0, c)});
  };
  EXPECT_EQ(sum(by_rows(2, 2), by_rows(2, 2)), "");
  EXPECT_NE(sum(by_rows(2, 2), by_columns(2, 2)).find("blas.addition<f32>: c overlaps a"), std::string::npos);
}

}  // namespace
}  // namespace troupe::blas
