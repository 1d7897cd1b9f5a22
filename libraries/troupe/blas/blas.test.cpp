// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <troupe/blas/blas.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <troupe/request/testing/fake_memory.hpp>

namespace troupe::blas {
namespace {

// Float operands start at 0x1000; 0x400 bytes hold 256 of them.
class blas_checks : public ::testing::Test {
 protected:
  auto at(std::uint64_t first, std::uint64_t count) { return memory.at<float>(first, count); }
  template <class R>
  std::string refusal(const R& r) {
    return memory.refusal(r);
  }

  gemm<float> product() { return {.a = at(0, 6), .b = at(6, 12), .c = at(18, 8), .m = 2, .n = 4, .k = 3}; }
  gemv<float> applied() { return {.a = at(0, 6), .x = at(6, 3), .y = at(9, 2), .m = 2, .n = 3}; }
  axpy<float> sum() { return {.x = at(0, 4), .y = at(4, 4), .n = 4}; }
  scal<float> scaled() { return {.x = at(0, 4), .n = 4}; }
  dot<float> inner() { return {.x = at(0, 4), .y = at(4, 4), .n = 4}; }

  troupe::testing::fake_memory memory{0x400};
};

TEST_F(blas_checks, valid_requests_are_accepted) {
  EXPECT_EQ(refusal(product()), "");
  EXPECT_EQ(refusal(applied()), "");
  EXPECT_EQ(refusal(sum()), "");
  EXPECT_EQ(refusal(scaled()), "");
  EXPECT_EQ(refusal(inner()), "");
}

TEST_F(blas_checks, requests_have_stable_names_and_print_every_field) {
  EXPECT_EQ(name_of<gemm<double>>(), "blas.gemm<f64>");
  EXPECT_EQ(name_of<gemv<float>>(), "blas.gemv<f32>");
  EXPECT_EQ(name_of<axpy<double>>(), "blas.axpy<f64>");
  EXPECT_EQ(name_of<scal<float>>(), "blas.scal<f32>");
  EXPECT_EQ(library_of<dot<float>>(), "blas");
  gemm<float> g = product();
  g.trans_b = op::conjugate_transpose;
  g.alpha = 2.5;
  EXPECT_EQ(describe(g),
            "blas.gemm<f32>{a=f32[6]@1000, b=f32[12]@1018, c=f32[8]@1048, m=2, n=4, k=3, trans_a=none, "
            "trans_b=conjugate_transpose, alpha=2.5, beta=0, lda=tight, ldb=tight, ldc=tight, math=exact}");
  EXPECT_EQ(describe(applied()),
            "blas.gemv<f32>{a=f32[6]@1000, x=f32[3]@1018, y=f32[2]@1024, m=2, n=3, trans=none, alpha=1, "
            "beta=0, lda=tight, incx=1, incy=1}");
  EXPECT_EQ(describe(sum()), "blas.axpy<f32>{x=f32[4]@1000, y=f32[4]@1010, n=4, alpha=1, incx=1, incy=1}");
  EXPECT_EQ(describe(scaled()), "blas.scal<f32>{x=f32[4]@1000, n=4, alpha=1, incx=1}");
  EXPECT_EQ(describe(inner()), "blas.dot<f32>{x=f32[4]@1000, y=f32[4]@1010, n=4, incx=1, incy=1, result=none}");
}

template <class R, class Make>
void expect_size_refused(troupe::testing::fake_memory& memory, Make&& make, extent R::* field, std::string_view name) {
  const std::string start = std::string(name_of<R>()) + ": " + std::string(name);
  R r = make();
  r.*field = 0;
  EXPECT_EQ(memory.refusal(r), start + " is 0; expected at least 1");
  r.*field = -7;
  EXPECT_EQ(memory.refusal(r), start + " is -7; expected at least 1");
  r.*field = extent(INT64_MAX) + 1;
  EXPECT_EQ(memory.refusal(r), start + " is too large for 64 bits; expected at least 1");
}

TEST_F(blas_checks, wrong_sizes_are_refused_by_name) {
  for (auto [field, name] : {std::pair{&gemm<float>::m, "m"}, {&gemm<float>::n, "n"}, {&gemm<float>::k, "k"}})
    expect_size_refused<gemm<float>>(memory, [&] { return product(); }, field, name);
  for (auto [field, name] : {std::pair{&gemv<float>::m, "m"}, {&gemv<float>::n, "n"}})
    expect_size_refused<gemv<float>>(memory, [&] { return applied(); }, field, name);
  expect_size_refused<axpy<float>>(memory, [&] { return sum(); }, &axpy<float>::n, "n");
  expect_size_refused<scal<float>>(memory, [&] { return scaled(); }, &scal<float>::n, "n");
  expect_size_refused<dot<float>>(memory, [&] { return inner(); }, &dot<float>::n, "n");
}

TEST_F(blas_checks, each_matrix_of_a_product_must_hold_its_shape) {
  gemm<float> r = product();
  r.a = at(0, 5);
  EXPECT_EQ(refusal(r),
            "blas.gemm<f32>: a holds 5 elements; expected at least 6 ((columns - 1) * leading dimension + rows)");
  r = product();
  r.b = at(6, 11);
  EXPECT_EQ(refusal(r),
            "blas.gemm<f32>: b holds 11 elements; expected at least 12 ((columns - 1) * leading dimension + rows)");
  r = product();
  r.c = at(18, 7);
  EXPECT_EQ(refusal(r),
            "blas.gemm<f32>: c holds 7 elements; expected at least 8 ((columns - 1) * leading dimension + rows)");
}

TEST_F(blas_checks, leading_dimensions_must_cover_the_rows_as_stored) {
  gemm<float> r = product();
  r.lda = 1;
  EXPECT_EQ(refusal(r), "blas.gemm<f32>: lda is 1; expected at least 2 (the rows it must hold), or leave it out");
  r.trans_a = op::transpose;  // A is stored 3 by 2
  r.lda = 2;
  EXPECT_EQ(refusal(r), "blas.gemm<f32>: lda is 2; expected at least 3 (the rows it must hold), or leave it out");
  r.lda = 3;
  EXPECT_EQ(refusal(r), "");
  r.lda = 4;
  EXPECT_EQ(refusal(r),
            "blas.gemm<f32>: a holds 6 elements; expected at least 7 ((columns - 1) * leading dimension + rows)");
  r = product();
  r.ldb = 2;
  EXPECT_EQ(refusal(r), "blas.gemm<f32>: ldb is 2; expected at least 3 (the rows it must hold), or leave it out");
  r.trans_b = op::conjugate_transpose;  // B is stored 4 by 3
  r.ldb = 3;
  EXPECT_EQ(refusal(r), "blas.gemm<f32>: ldb is 3; expected at least 4 (the rows it must hold), or leave it out");
  r.ldb = 4;
  EXPECT_EQ(refusal(r), "");
  r.ldc = -2;
  EXPECT_EQ(refusal(r), "blas.gemm<f32>: ldc is -2; expected at least 2 (the rows it must hold), or leave it out");
  r.ldc = 3;
  EXPECT_EQ(refusal(r),
            "blas.gemm<f32>: c holds 8 elements; expected at least 11 ((columns - 1) * leading dimension + rows)");

  gemv<float> v = applied();
  v.trans = op::transpose;
  v.x = at(6, 2);
  v.y = at(9, 3);
  v.lda = 1;
  EXPECT_EQ(refusal(v), "blas.gemv<f32>: lda is 1; expected at least 2 (the rows it must hold), or leave it out");
  v.lda = 3;
  EXPECT_EQ(refusal(v),
            "blas.gemv<f32>: a holds 6 elements; expected at least 8 ((columns - 1) * leading dimension + rows)");
}

TEST_F(blas_checks, transposing_swaps_the_lengths_of_the_vectors_of_gemv) {
  gemv<float> r = applied();
  r.x = at(6, 2);
  EXPECT_EQ(refusal(r), "blas.gemv<f32>: x holds 2 elements; expected at least 3 ((n - 1) * |increment| + 1)");
  r.trans = op::transpose;
  EXPECT_EQ(refusal(r), "blas.gemv<f32>: y holds 2 elements; expected at least 3 ((n - 1) * |increment| + 1)");
  r.y = at(9, 3);
  EXPECT_EQ(refusal(r), "");
}

TEST_F(blas_checks, increments_count_in_the_size_of_a_vector) {
  gemv<float> g = applied();
  g.incx = -2;
  EXPECT_EQ(refusal(g), "blas.gemv<f32>: x holds 3 elements; expected at least 5 ((n - 1) * |increment| + 1)");
  g = applied();
  g.incy = 5;
  EXPECT_EQ(refusal(g), "blas.gemv<f32>: y holds 2 elements; expected at least 6 ((n - 1) * |increment| + 1)");
  axpy<float> a = sum();
  a.incx = 2;
  EXPECT_EQ(refusal(a), "blas.axpy<f32>: x holds 4 elements; expected at least 7 ((n - 1) * |increment| + 1)");
  a = sum();
  a.incy = -2;
  EXPECT_EQ(refusal(a), "blas.axpy<f32>: y holds 4 elements; expected at least 7 ((n - 1) * |increment| + 1)");
  scal<float> s = scaled();
  s.incx = -2;
  EXPECT_EQ(refusal(s), "blas.scal<f32>: x holds 4 elements; expected at least 7 ((n - 1) * |increment| + 1)");
  dot<float> d = inner();
  d.incx = 2;
  EXPECT_EQ(refusal(d), "blas.dot<f32>: x holds 4 elements; expected at least 7 ((n - 1) * |increment| + 1)");
  d = inner();
  d.incy = 3;
  EXPECT_EQ(refusal(d), "blas.dot<f32>: y holds 4 elements; expected at least 10 ((n - 1) * |increment| + 1)");
}

TEST_F(blas_checks, an_increment_of_zero_is_refused_and_tight_means_one) {
  const std::string why = " is 0; expected a nonzero increment: 1 for adjacent elements";
  gemv<float> g = applied();
  g.incx = 0;
  EXPECT_EQ(refusal(g), "blas.gemv<f32>: incx" + why);
  g.incx = tight;
  g.incy = 0;
  EXPECT_EQ(refusal(g), "blas.gemv<f32>: incy" + why);
  g.incy = tight;
  EXPECT_EQ(refusal(g), "");
  axpy<float> a = sum();
  a.incx = 0;
  EXPECT_EQ(refusal(a), "blas.axpy<f32>: incx" + why);
  a.incx = tight;
  a.incy = 0;
  EXPECT_EQ(refusal(a), "blas.axpy<f32>: incy" + why);
  scal<float> s = scaled();
  s.incx = 0;
  EXPECT_EQ(refusal(s), "blas.scal<f32>: incx" + why);
  s.incx = tight;
  EXPECT_EQ(refusal(s), "");
  dot<float> d = inner();
  d.incx = 0;
  EXPECT_EQ(refusal(d), "blas.dot<f32>: incx" + why);
  d.incx = 1;
  d.incy = 0;
  EXPECT_EQ(refusal(d), "blas.dot<f32>: incy" + why);
}

TEST_F(blas_checks, shapes_that_overflow_are_refused) {
  gemm<float> r = product();
  r.k = INT64_MAX;
  EXPECT_EQ(refusal(r),
            "blas.gemm<f32>: a holds 6 elements, and the size asked for is too large: (columns - 1) * leading "
            "dimension + rows does not fit 64 bits; expected at most 6");
  r = product();
  r.ldc = INT64_MAX;
  EXPECT_EQ(refusal(r),
            "blas.gemm<f32>: c holds 8 elements, and the size asked for is too large: (columns - 1) * leading "
            "dimension + rows does not fit 64 bits; expected at most 8");
  dot<float> d = inner();
  d.incy = INT64_MAX;
  EXPECT_EQ(refusal(d),
            "blas.dot<f32>: y holds 4 elements, and the size asked for is too large: (n - 1) * |increment| "
            "+ 1 does not fit 64 bits; expected at most 4");
  scal<float> s = scaled();
  s.incx = extent::overflow();
  s.n = 1;
  EXPECT_EQ(refusal(s),
            "blas.scal<f32>: x holds 4 elements, and the size asked for is too large: (n - 1) * |increment| "
            "+ 1 does not fit 64 bits; expected at most 4");
}

TEST_F(blas_checks, outputs_must_not_overlap_inputs) {
  gemm<float> r = product();
  r.c = at(5, 8);
  EXPECT_EQ(refusal(r),
            "blas.gemm<f32>: c overlaps a; expected separate memory, because one of them is written while the other is "
            "in use");
  r.c = at(17, 8);
  EXPECT_EQ(refusal(r),
            "blas.gemm<f32>: c overlaps b; expected separate memory, because one of them is written while the other is "
            "in use");
  gemv<float> v = applied();
  v.y = at(8, 2);
  EXPECT_EQ(refusal(v),
            "blas.gemv<f32>: y overlaps x; expected separate memory, because one of them is written while the other is "
            "in use");
  axpy<float> a = sum();
  a.y = at(0, 4);
  EXPECT_EQ(refusal(a),
            "blas.axpy<f32>: y overlaps x; expected separate memory, because one of them is written while the other is "
            "in use");
}

TEST_F(blas_checks, inputs_may_overlap) {
  dot<float> d = inner();
  d.y = at(0, 4);
  EXPECT_EQ(refusal(d), "");
  gemm<float> r{.a = at(0, 4), .b = at(0, 4), .c = at(4, 4), .m = 2, .n = 2, .k = 2};
  EXPECT_EQ(refusal(r), "");
}

TEST_F(blas_checks, blocks_of_a_matrix_can_be_multiplied_into_another_block) {
  // Three adjacent 2 by 2 blocks of a matrix with 6 rows.
  EXPECT_EQ(refusal(gemm<float>{
                .a = at(0, 8), .b = at(2, 8), .c = at(4, 8), .m = 2, .n = 2, .k = 2, .lda = 6, .ldb = 6, .ldc = 6}),
            "");
}

TEST_F(blas_checks, an_output_counts_as_overwritten_if_beta_is_0) {
  EXPECT_EQ(memory.touched(product(), 2).mode, access_mode::write);
  EXPECT_EQ(memory.touched(applied(), 2).mode, access_mode::write);
  gemm<float> r = product();
  r.beta = -0.0f;
  EXPECT_EQ(memory.touched(r, 2).mode, access_mode::write);
  r.beta = 0.5f;
  EXPECT_EQ(memory.touched(r, 2).mode, access_mode::read_write);
  r.beta = 0;
  r.c = at(18, 11);
  r.ldc = 3;
  EXPECT_EQ(memory.touched(r, 2).mode, access_mode::read_write) << "memory between its columns is kept";
  gemv<float> v = applied();
  v.beta = 1;
  EXPECT_EQ(memory.touched(v, 2).mode, access_mode::read_write);
  EXPECT_EQ(memory.touched(scaled(), 0).mode, access_mode::read_write);
  EXPECT_EQ(memory.touched(sum(), 1).mode, access_mode::read_write);
}

TEST_F(blas_checks, only_touched_elements_count_as_accessed) {
  const gemv<float> v{
      .a = at(0, 50), .x = at(50, 50), .y = at(100, 50), .m = 2, .n = 3, .beta = 1, .incx = -4, .incy = 2};
  EXPECT_EQ(memory.touched(v, 0).end, 0x1000u + 6 * 4);
  EXPECT_EQ(memory.touched(v, 1).begin, 0x1000u + 50 * 4);
  EXPECT_EQ(memory.touched(v, 1).end, 0x1000u + (50 + 9) * 4);
  EXPECT_EQ(memory.touched(v, 2).end, 0x1000u + (100 + 3) * 4);
}

TEST_F(blas_checks, stale_inputs_are_refused) {
  memory.spoil();
  EXPECT_EQ(refusal(scaled()), "the block is spoilt");
  EXPECT_EQ(refusal(inner()), "the block is spoilt");
  EXPECT_EQ(refusal(product()), "the block is spoilt");
}

}  // namespace
}  // namespace troupe::blas
