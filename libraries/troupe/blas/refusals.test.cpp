// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Tests that wrong requests are refused before they are queued. For each request: a valid one passes, and each mistake
// is refused with its exact text.
#include <gtest/gtest.h>

#include <troupe/blas/blas.hpp>
#include <troupe/request/encoding/describe.hpp>
#include <troupe/request/testing/fake_memory.hpp>

namespace troupe::blas {
namespace {

// Operands start at 0x1000; at<T>(first, count) is the range [first, first + count) of elements.
class blas_refusals : public ::testing::Test {
 protected:
  using c64 = complex64;
  template <class T = float>
  auto at(std::uint64_t first, std::uint64_t count) {
    return memory.at<T>(first, count);
  }
  template <class T, access_mode M>
  std::vector<operand<T, M>> list(std::initializer_list<troupe::testing::fake_memory::elements<T>> all) {
    return {all.begin(), all.end()};
  }
  template <class R>
  void expect_fine(const R& r) {
    EXPECT_EQ(memory.refusal(r), "") << describe(r);
  }
  template <class R>
  void expect_refused(const R& r, const std::string& text) {
    EXPECT_EQ(memory.refusal(r), std::string(name_of<R>()) + ": " + text);
  }
  // Checks that `good` is refused if one of its fields is changed.
  template <class R, class F, class V>
  void expect_refused(R good, F R::* field, V value, const std::string& text) {
    good.*field = value;
    expect_refused(good, text);
  }
  // Checks the fields that many requests have.
  template <class R>
  void expect_common(const R& good) {
    expect_fine(good);
    const auto sizes_from = [&](extent R::* field, const std::string& name, int least) {
      expect_refused(good, field, least - 1,
                     name + " is " + std::to_string(least - 1) + "; expected at least " + std::to_string(least));
      expect_refused(good, field, extent::overflow(),
                     name + " is too large for 64 bits; expected at least " + std::to_string(least));
    };
    if constexpr (requires { &R::m; }) sizes_from(&R::m, "m", 1);
    if constexpr (requires { &R::n; }) sizes_from(&R::n, "n", 1);
    if constexpr (requires { &R::nrhs; }) sizes_from(&R::nrhs, "nrhs", 1);
    if constexpr (requires { &R::batch; }) sizes_from(&R::batch, "batch", 1);
    if constexpr (requires { &R::kl; }) sizes_from(&R::kl, "kl", 0), sizes_from(&R::ku, "ku", 0);
    constexpr bool band_k = requires { &R::k; } && requires { &R::x; };
    if constexpr (requires { &R::k; }) sizes_from(&R::k, "k", band_k ? 0 : 1);
    if constexpr (requires { &R::incx; })
      expect_refused(good, &R::incx, 0, "incx is 0; expected a nonzero increment: 1 for adjacent elements");
    if constexpr (requires { &R::incy; })
      expect_refused(good, &R::incy, 0, "incy is 0; expected a nonzero increment: 1 for adjacent elements");
    const auto least_leading = [&](extent R::* field, const std::string& name) {
      R r = good;
      r.*field = 0;
      const std::string text = memory.refusal(r);
      EXPECT_NE(text.find(": " + name + " is 0; expected at least "), std::string::npos) << text;
      EXPECT_NE(text.find(" (the rows it must hold), or leave it out"), std::string::npos) << text;
    };
    if constexpr (requires { &R::lda; }) least_leading(&R::lda, "lda");
    if constexpr (requires { &R::ldb; }) least_leading(&R::ldb, "ldb");
    if constexpr (requires { &R::ldc; }) least_leading(&R::ldc, "ldc");
    if constexpr (requires { &R::uplo; })
      expect_refused(good, &R::uplo, triangle(2), "uplo is 2; expected lower or upper");
    if constexpr (requires { &R::side; }) expect_refused(good, &R::side, side(2), "side is 2; expected left or right");
    if constexpr (requires { &R::diag; })
      expect_refused(good, &R::diag, diagonal(2), "diag is 2; expected stored or unit");
    if constexpr (requires { &R::trans; })
      expect_refused(good, &R::trans, op(3), "trans is 3; expected none, transpose or conjugate_transpose");
    if constexpr (requires { &R::trans_a; }) {
      expect_refused(good, &R::trans_a, op(3), "trans_a is 3; expected none, transpose or conjugate_transpose");
      expect_refused(good, &R::trans_b, op(3), "trans_b is 3; expected none, transpose or conjugate_transpose");
    }
    if constexpr (requires { &R::math; })
      expect_refused(good, &R::math, math_mode(5), "math is 5; expected exact, tf32, bf16, f16 or bf16x9");
  }
  // Checks that `field` is refused if it has one element too few, or if it begins where another operand does and
  // overlaps it.
  template <class R, class F>
  void expect_too_small(R good, F R::* field, std::uint64_t needed, const std::string& name, const std::string& shape) {
    using T = typename F::element_type;
    good.*field = at<T>(0, needed - 1);
    const std::string holds = std::to_string(needed - 1) + (needed == 2 ? " element" : " elements");
    expect_refused(good, name + " holds " + holds + "; expected at least " + std::to_string(needed) + shape);
  }

  static constexpr const char* matrix = " ((columns - 1) * leading dimension + rows)";
  static constexpr const char* vector = " ((n - 1) * |increment| + 1)";
  static constexpr const char* separate =
      "; expected separate memory, because one of them is written while the other is in use";
  troupe::testing::fake_memory memory{0x10000};
};

TEST_F(blas_refusals, mistakes_in_vector_operations_are_refused_with_the_field) {
  expect_common(axpy<c64>{.x = at<c64>(0, 4), .y = at<c64>(4, 4), .n = 4});
  axpby<float> b{.x = at(0, 4), .y = at(4, 4), .n = 4};
  expect_common(b);
  EXPECT_EQ(memory.touched(b, 1).mode, access_mode::read_write);
  b.beta = 0;
  EXPECT_EQ(memory.touched(b, 1).mode, access_mode::write);
  expect_common(scal<c64, float>{.x = at<c64>(0, 4), .n = 4});
  expect_common(copy<double>{.x = at<double>(0, 4), .y = at<double>(4, 4), .n = 4});
  expect_common(blas::swap<float>{.x = at(0, 4), .y = at(4, 4), .n = 4});
  expect_common(dotu<c64>{.x = at<c64>(0, 4), .y = at<c64>(4, 4), .n = 4});
  expect_common(dotc<c64>{.x = at<c64>(0, 4), .y = at<c64>(4, 4), .n = 4});
  expect_common(asum<c64>{.x = at<c64>(0, 4), .n = 4});
  expect_common(iamin<float>{.x = at(0, 4), .n = 4});
  const copy<float> c{.x = at(0, 4), .y = at(4, 7), .n = 4, .incy = 2};
  expect_too_small(c, &copy<float>::y, 7, "y", vector);
  EXPECT_EQ(memory.touched(c, 1).mode, access_mode::read_write) << "memory between its elements is kept";
  EXPECT_EQ(memory.touched(copy<float>{.x = at(0, 4), .y = at(4, 4), .n = 4, .incy = -1}, 1).mode, access_mode::write);
  blas::swap<float> s{.x = at(0, 4), .y = at(3, 4), .n = 4};
  expect_refused(s, std::string("y overlaps x") + separate);
}

TEST_F(blas_refusals, mistakes_in_results_in_memory_are_refused_with_the_field) {
  dot<float> d{.x = at(0, 4), .y = at(0, 4), .n = 4, .result = out<float>(at(4, 1))};
  expect_common(d);
  EXPECT_EQ(describe(d), "blas.dot<f32>{x=f32[4]@1000, y=f32[4]@1000, n=4, incx=1, incy=1, result=f32[1]@1010}");
  d.result = out<float>(at(3, 1));
  expect_refused(d, std::string("result overlaps x") + separate);
  nrm2<c64> n{.x = at<c64>(0, 4), .n = 4, .result = out<float>(at<float>(8, 0))};
  expect_refused(n, "result holds 0 elements; expected at least 1");
  n.result = out<float>(at<float>(8, 1));
  expect_common(n);
  expect_common(iamax<float>{.x = at(0, 4), .n = 4, .result = out<std::int64_t>(at<std::int64_t>(2, 1))});
}

TEST_F(blas_refusals, mistakes_in_rotations_are_refused_with_the_field) {
  const rot<c64> r{.x = at<c64>(0, 4), .y = at<c64>(4, 4), .n = 4, .c = 0.6f, .s = c64(0, 0.8f)};
  expect_common(r);
  EXPECT_NE(describe(r).find("c=0.6, s=(0,0.8)"), std::string::npos) << describe(r);
  const rotm<float> m{.x = at(0, 4), .y = at(4, 4), .n = 4, .param = modified_rotation<float>{-2, 0, 0, 0, 0}};
  expect_common(m);
  expect_refused(m, &rotm<float>::param, modified_rotation<float>{2, 0, 0, 0, 0},
                 "param has flag 2; expected -2, -1, 0 or 1");
  rotg<float> g{.a = 1, .b = 2};
  expect_fine(g);
  const auto number = [this](std::uint64_t i) { return scalar<float>(at(i, 1).range); };
  g = {.a = number(0), .b = number(1), .r = out<float>(at(0, 1)), .z = out<float>(at(1, 1))};
  expect_fine(g);
  g.r = out<float>(at(1, 1)), g.z = std::nullopt;
  expect_refused(g, std::string("r overlaps b") + separate);
  rotmg<float> mg{.d1 = number(0), .d2 = 1, .x1 = 1, .y1 = 1, .new_d1 = out<float>(at(0, 1))};
  expect_fine(mg);
  mg.new_d2 = out<float>(at(0, 1));
  expect_refused(mg, std::string("new_d2 overlaps d1") + separate);
}

TEST_F(blas_refusals, mistakes_in_scalars_in_memory_are_refused_with_the_field) {
  const auto number = [this](std::uint64_t i, std::uint64_t n) { return scalar<float>(at(i, n).range); };
  gemm<float> g{.a = at(0, 4), .b = at(4, 4), .c = at(8, 4), .m = 2, .n = 2, .k = 2, .alpha = number(12, 1)};
  expect_fine(g);
  g.alpha = number(12, 0);
  expect_refused(g, "alpha holds 0 elements; expected at least 1");
  g.alpha = 1;
  g.beta = number(8, 1);
  expect_refused(g, std::string("c overlaps beta") + separate);
  EXPECT_EQ(memory.touched(g, 2).mode, access_mode::read_write) << "beta in memory may be other than 0";
}

TEST_F(blas_refusals, mistakes_in_products_of_a_matrix_and_a_vector_are_refused_with_the_field) {
  const gbmv<float> g{.a = at(0, 20), .x = at(20, 5), .y = at(25, 6), .m = 6, .n = 5, .kl = 2, .ku = 1};
  expect_common(g);
  expect_too_small(g, &gbmv<float>::a, 20, "a", matrix);
  expect_too_small(g, &gbmv<float>::x, 5, "x", vector);
  expect_too_small(g, &gbmv<float>::y, 6, "y", vector);
  expect_refused(g, &gbmv<float>::lda, 3, "lda is 3; expected at least 4 (the rows it must hold), or leave it out");
  expect_refused(
      g, &gbmv<float>::kl, INT64_MAX,
      "a holds 20 elements, and the size asked for is too large: (columns - 1) * leading dimension + rows does "
      "not fit 64 bits; expected at most 20");
  const symv<float> s{.a = at(0, 16), .x = at(16, 4), .y = at(20, 4), .n = 4};
  expect_common(s);
  expect_too_small(s, &symv<float>::a, 16, "a", matrix);
  expect_refused(s, &symv<float>::y, at(19, 4), std::string("y overlaps x") + separate);
  EXPECT_EQ(memory.touched(s, 2).mode, access_mode::write) << "beta is 0";
  expect_common(hemv<c64>{.a = at<c64>(0, 16), .x = at<c64>(16, 4), .y = at<c64>(20, 4), .n = 4});
  const sbmv<float> b{.a = at(0, 12), .x = at(16, 4), .y = at(20, 4), .n = 4, .k = 2};
  expect_common(b);
  expect_too_small(b, &sbmv<float>::a, 12, "a", matrix);
  expect_common(hbmv<c64>{.a = at<c64>(0, 12), .x = at<c64>(16, 4), .y = at<c64>(20, 4), .n = 4, .k = 2});
  const spmv<float> p{.a = at(0, 10), .x = at(16, 4), .y = at(20, 4), .n = 4};
  expect_common(p);
  expect_too_small(p, &spmv<float>::a, 10, "a", "");
  expect_refused(
      p, &spmv<float>::n, INT64_MAX,
      "a holds 10 elements, and the size asked for is too large: it does not fit 64 bits; expected at most 10");
  expect_common(hpmv<c64>{.a = at<c64>(0, 10), .x = at<c64>(16, 4), .y = at<c64>(20, 4), .n = 4});
}

TEST_F(blas_refusals, mistakes_in_operations_on_triangular_matrices_are_refused_with_the_field) {
  const trmv<float> f{.a = at(0, 16), .x = at(16, 4), .n = 4};
  expect_common(f);
  expect_too_small(f, &trmv<float>::a, 16, "a", matrix);
  expect_too_small(f, &trmv<float>::x, 4, "x", vector);
  expect_refused(f, &trmv<float>::x, at(15, 4), std::string("x overlaps a") + separate);
  expect_common(trsv<c64>{.a = at<c64>(0, 16), .x = at<c64>(16, 4), .n = 4});
  const tbsv<float> b{.a = at(0, 12), .x = at(16, 4), .n = 4, .k = 2};
  expect_common(b);
  expect_too_small(b, &tbsv<float>::a, 12, "a", matrix);
  expect_common(tbmv<double>{.a = at<double>(0, 12), .x = at<double>(16, 4), .n = 4, .k = 2});
  const tpmv<float> p{.a = at(0, 15), .x = at(16, 5), .n = 5};
  expect_common(p);
  expect_too_small(p, &tpmv<float>::a, 15, "a", "");
  expect_common(tpsv<c64>{.a = at<c64>(0, 10), .x = at<c64>(16, 4), .n = 4});
}

TEST_F(blas_refusals, mistakes_in_rank_1_and_rank_2_updates_are_refused_with_the_field) {
  const ger<float> g{.x = at(0, 3), .y = at(3, 4), .a = at(8, 12), .m = 3, .n = 4};
  expect_common(g);
  expect_too_small(g, &ger<float>::x, 3, "x", vector);
  expect_too_small(g, &ger<float>::y, 4, "y", vector);
  expect_too_small(g, &ger<float>::a, 12, "a", matrix);
  expect_refused(g, &ger<float>::a, at(6, 12), std::string("a overlaps y") + separate);
  expect_common(geru<c64>{.x = at<c64>(0, 3), .y = at<c64>(0, 4), .a = at<c64>(8, 12), .m = 3, .n = 4});
  expect_common(gerc<c64>{.x = at<c64>(0, 3), .y = at<c64>(0, 4), .a = at<c64>(8, 12), .m = 3, .n = 4});
  expect_common(syr<float>{.x = at(0, 3), .a = at(8, 9), .n = 3});
  expect_common(her<c64>{.x = at<c64>(0, 3), .a = at<c64>(8, 9), .n = 3});
  const spr<float> p{.x = at(0, 3), .a = at(8, 6), .n = 3};
  expect_common(p);
  expect_too_small(p, &spr<float>::a, 6, "a", "");
  expect_common(hpr<c64>{.x = at<c64>(0, 3), .a = at<c64>(8, 6), .n = 3});
  expect_common(syr2<float>{.x = at(0, 3), .y = at(4, 3), .a = at(8, 9), .n = 3});
  expect_common(her2<c64>{.x = at<c64>(0, 3), .y = at<c64>(4, 3), .a = at<c64>(8, 9), .n = 3});
  expect_common(spr2<float>{.x = at(0, 3), .y = at(4, 3), .a = at(8, 6), .n = 3});
  expect_common(hpr2<c64>{.x = at<c64>(0, 3), .y = at<c64>(4, 3), .a = at<c64>(8, 6), .n = 3});
}

TEST_F(blas_refusals, mistakes_in_operations_on_matrices_are_refused_with_the_field) {
  symm<float> s{.a = at(0, 9), .b = at(9, 12), .c = at(24, 12), .m = 3, .n = 4};
  expect_common(s);
  s.side = side::right;  // A is 4 by 4
  expect_refused(s, "a holds 9 elements; expected at least 16 ((columns - 1) * leading dimension + rows)");
  expect_common(hemm<c64>{.a = at<c64>(0, 9), .b = at<c64>(9, 12), .c = at<c64>(24, 12), .m = 3, .n = 4});
  syrk<float> k{.a = at(0, 6), .c = at(6, 9), .n = 3, .k = 2};
  expect_common(k);
  EXPECT_EQ(memory.touched(k, 1).mode, access_mode::read_write) << "the other triangle is kept";
  k.trans = op::transpose;
  k.lda = 2;
  expect_fine(k);
  k.trans = op::conjugate_transpose;
  expect_fine(k);
  const syrk<c64> complex{.a = at<c64>(0, 6), .c = at<c64>(6, 9), .n = 3, .k = 2, .trans = op::conjugate_transpose};
  expect_refused(complex, "trans is conjugate_transpose; expected none or transpose: the result is symmetric");
  const herk<c64> h{.a = at<c64>(0, 6), .c = at<c64>(6, 9), .n = 3, .k = 2};
  expect_common(h);
  expect_refused(h, &herk<c64>::trans, op::transpose,
                 "trans is transpose; expected none or conjugate_transpose: the result is Hermitian");
  expect_common(syr2k<float>{.a = at(0, 6), .b = at(6, 6), .c = at(12, 9), .n = 3, .k = 2});
  expect_common(her2k<c64>{.a = at<c64>(0, 6), .b = at<c64>(6, 6), .c = at<c64>(12, 9), .n = 3, .k = 2});
  expect_common(syrkx<float>{.a = at(0, 6), .b = at(6, 6), .c = at(12, 9), .n = 3, .k = 2});
  expect_common(herkx<c64>{.a = at<c64>(0, 6), .b = at<c64>(6, 6), .c = at<c64>(12, 9), .n = 3, .k = 2});
  const trsm<float> t{.a = at(0, 9), .b = at(9, 12), .m = 3, .n = 4};
  expect_common(t);
  expect_too_small(t, &trsm<float>::b, 12, "b", matrix);
}

TEST_F(blas_refusals, allow_in_place_operands_only_in_the_same_layout) {
  trmm<float> t{.a = at(0, 9), .b = at(10, 12), .c = at(30, 15), .m = 3, .n = 4};
  expect_common(t);
  t.c = at(10, 12);
  expect_fine(t);
  t.ldc = 4, t.c = at(10, 15);
  expect_refused(t, std::string("c overlaps b") + separate);
  t.ldc = 3, t.c = at(13, 12);
  expect_refused(t, std::string("c overlaps b") + separate);

  geam<float> g{.a = at(0, 12), .b = at(12, 12), .c = at(0, 12), .m = 3, .n = 4};
  expect_common(geam<float>{.a = at(0, 12), .b = at(0, 12), .c = at(24, 12), .m = 3, .n = 4});
  expect_fine(g);
  g.c = at(12, 12);
  expect_fine(g);
  g.b = at(0, 12), g.c = at(0, 12);
  expect_fine(g);
  g.trans_b = op::transpose;
  expect_refused(g, std::string("c overlaps b") + separate);

  dgmm<float> d{.a = at(0, 12), .x = at(12, 3), .c = at(0, 12), .m = 3, .n = 4};
  expect_fine(d);
  expect_refused(d, &dgmm<float>::side, side::right,
                 "x holds 3 elements; expected at least 4 ((n - 1) * |increment| + 1)");
  d.c = at(16, 12);
  expect_common(d);
}

TEST_F(blas_refusals, mistakes_in_the_elements_of_products_are_refused_with_the_field) {
  const gemm<half, float> mixed{.a = at<half>(0, 4), .b = at<half>(4, 4), .c = at<float>(4, 4), .m = 2, .n = 2, .k = 2};
  expect_common(mixed);
  expect_refused(
      mixed, &gemm<half, float>::math, math_mode::tf32,
      "math allows less than the elements' precision; expected exact: only products of f32 and c64 have other "
      "modes");
  gemm<float> g{.a = at(0, 4), .b = at(4, 4), .c = at(8, 4), .m = 2, .n = 2, .k = 2, .math = math_mode::bf16x9};
  expect_fine(g);
  EXPECT_NE(describe(g).find("math=bf16x9"), std::string::npos);
  const gemm<std::int8_t, std::int32_t> whole{
      .a = at<std::int8_t>(0, 4), .b = at<std::int8_t>(4, 4), .c = at<std::int32_t>(4, 4), .m = 2, .n = 2, .k = 2};
  expect_common(whole);
  expect_refused(
      whole, &gemm<std::int8_t, std::int32_t>::k, 131072,
      "k is 131072; expected at most 131071, so that no sum of products overflows: split k, and add with beta "
      "= 1");
}

TEST_F(blas_refusals, mistakes_in_strided_batches_are_refused_with_the_field) {
  using R = gemm_strided_batched<float>;
  const R r{.a = at(0, 12), .b = at(12, 8), .c = at(20, 24), .m = 3, .n = 4, .k = 2, .batch = 2, .stride_b = 0};
  expect_common(r);
  EXPECT_EQ(memory.touched(r, 2).mode, access_mode::write);
  expect_refused(r, &R::stride_a, -1, "stride_a is -1; expected at least 0");
  expect_refused(r, &R::stride_c, 11, "stride_c is 11; expected at least 12");
  expect_refused(r, &R::stride_c, 0, "stride_c is 0; expected at least 12");
  expect_refused(
      r, &R::stride_c, 13,
      "c holds 24 elements; expected at least 25 ((batch - 1) * stride + (columns - 1) * leading dimension + "
      "rows)");
  expect_refused(
      r, &R::batch, INT64_MAX,
      "a holds 12 elements, and the size asked for is too large: (batch - 1) * stride + (columns - 1) * leading "
      "dimension + rows does not fit 64 bits; expected at most 12");
  R beside = r;  // blocks of one matrix, side by side
  beside.ldc = 6, beside.stride_c = 3;
  expect_fine(beside);
  EXPECT_EQ(memory.touched(beside, 2).mode, access_mode::write) << "they leave no gap";
  beside.stride_c = 2;
  expect_refused(beside, "stride_c is 2; expected at least 21");
  beside.ldc = 5, beside.stride_c = 3;
  expect_refused(beside, "stride_c is 3; expected at least 18");

  using V = gemv_strided_batched<float>;
  const V v{.a = at(0, 12), .x = at(12, 6), .y = at(20, 8), .m = 4, .n = 3, .batch = 2, .stride_a = 0};
  expect_common(v);
  expect_refused(v, &V::stride_y, 3, "stride_y is 3; expected at least 4");
  V woven = v;
  woven.incy = -2, woven.stride_y = 1;
  expect_fine(woven);
}

TEST_F(blas_refusals, mistakes_in_lists_of_matrices_are_refused_with_the_field) {
  using R = gemm_batched<float>;
  R r{.a = list<float, access_mode::read>({at(0, 6), at(0, 6)}),
      .b = list<float, access_mode::read>({at(6, 8), at(14, 8)}),
      .c = list<float, access_mode::read_write>({at(30, 12), at(42, 12)}),
      .m = 3,
      .n = 4,
      .k = 2};
  expect_common(r);
  EXPECT_EQ(memory.touched(r, 5).mode, access_mode::write);
  EXPECT_EQ(describe(r).substr(0, 65), "blas.gemm_batched<f32>{a=list of 2, b=list of 2, c=list of 2, m=3");
  R one = r;
  one.b[1] = in<float>(at(6, 7));
  expect_refused(one, "b[1] holds 7 elements; expected at least 8 ((columns - 1) * leading dimension + rows)");
  one = r;
  one.c[1] = inout<float>(at(41, 12));
  expect_refused(one, std::string("c[1] overlaps c[0]") + separate);
  one = r;
  one.b.pop_back();
  expect_refused(one, "b is a list of 1; expected 2, as many as the first list has");
  one.a.clear();
  expect_refused(one, "a is an empty list; expected at least one element");

  gemv_batched<float> v{.a = list<float, access_mode::read>({at(0, 6), at(0, 6)}),
                        .x = list<float, access_mode::read>({at(6, 2), at(8, 2)}),
                        .y = list<float, access_mode::read_write>({at(30, 3), at(33, 3)}),
                        .m = 3,
                        .n = 2};
  expect_common(v);
  v.y.pop_back();
  expect_refused(v, "y is a list of 1; expected 2, as many as the first list has");
  trsm_batched<float> t{.a = list<float, access_mode::read>({at(0, 9), at(0, 9)}),
                        .b = list<float, access_mode::read_write>({at(30, 6), at(36, 6)}),
                        .m = 3,
                        .n = 2};
  expect_common(t);
  t.a[1] = in<float>(at(0, 8));
  expect_refused(t, "a[1] holds 8 elements; expected at least 9 ((columns - 1) * leading dimension + rows)");
}

TEST_F(blas_refusals, mistakes_in_grouped_products_are_refused_with_the_field) {
  using R = gemm_grouped<float>;
  const R good{.a = list<float, access_mode::read>({at(0, 6), at(0, 4)}),
               .b = list<float, access_mode::read>({at(6, 8), at(14, 4)}),
               .c = list<float, access_mode::read_write>({at(30, 12), at(42, 4)}),
               .groups = {{.m = 3, .n = 4, .k = 2}, {.m = 2, .n = 2, .k = 2, .beta = 1}}};
  expect_common(good);
  EXPECT_EQ(memory.touched(good, 4).mode, access_mode::write);
  EXPECT_EQ(memory.touched(good, 5).mode, access_mode::read_write);
  const auto refused = [&](auto&& change, const std::string& text) {
    R r = good;
    change(r);
    expect_refused(r, text);
  };
  refused([](R& r) { r.groups[1].m = 0; }, "groups has a group [1] whose m is 0; expected at least 1");
  refused([](R& r) { r.groups[0].n = -3; }, "groups has a group [0] whose n is -3; expected at least 1");
  refused([](R& r) { r.groups[1].k = extent::overflow(); },
          "groups has a group [1] whose k is too large for 64 bits; expected a number that fits");
  refused([](R& r) { r.groups[1].count = 0; }, "groups has a group [1] whose count is 0; expected at least 1");
  refused([](R& r) { r.groups[0].lda = 2; }, "groups has a group [0] whose lda is 2; expected at least 3");
  refused([](R& r) { r.groups[0].trans_b = op(7); },
          "groups has a group [0] whose trans_b is 7; expected none, transpose or conjugate_transpose");
  refused([](R& r) { r.groups[1].count = 2; }, "groups counts 3 products; expected 2, as many as the lists have");
  refused([](R& r) { r.c.pop_back(); }, "c is a list of 1; expected 2, as many as the first list has");
  refused([](R& r) { r.a.pop_back(); }, "b is a list of 2; expected 1, as many as the first list has");
  refused([](R& r) { r.groups.pop_back(); }, "groups counts 1 product; expected 2, as many as the lists have");
  refused([this](R& r) { r.b[1] = in<float>(at(14, 3)); },
          "b[1] holds 3 elements; expected at least 4 ((columns - 1) * leading dimension + rows)");
}

TEST_F(blas_refusals, mistakes_in_factorizations_are_refused_with_the_field) {
  const auto square = list<float, access_mode::read>({at(0, 9), at(9, 9)});
  const auto changed = list<float, access_mode::read_write>({at(20, 9), at(29, 9)});
  const auto results = list<float, access_mode::write>({at(20, 9), at(29, 9)});
  const auto numbers = [this](std::uint64_t n) { return at<std::int32_t>(100, n); };
  getrf_batched<float> f{
      .a = changed, .pivots = out<std::int32_t>(numbers(6)), .info = at<std::int32_t>(110, 2), .n = 3};
  expect_common(f);
  f.pivots = out<std::int32_t>(numbers(5));
  expect_refused(f, "pivots holds 5 elements; expected at least 6");
  f.pivots = std::nullopt;
  expect_common(f);
  f.info = numbers(1);
  expect_refused(f, "info holds 1 element; expected at least 2");
  getrs_batched<float> s{.a = square, .pivots = in<std::int32_t>(numbers(6)), .b = changed, .n = 3, .nrhs = 3};
  expect_common(s);
  s.nrhs = 4;
  expect_refused(s, "b[0] holds 9 elements; expected at least 12 ((columns - 1) * leading dimension + rows)");
  expect_common(getri_batched<float>{
      .a = square, .pivots = in<std::int32_t>(numbers(6)), .c = results, .info = at<std::int32_t>(110, 2), .n = 3});
  matinv_batched<float> i{.a = square, .c = results, .info = at<std::int32_t>(110, 2), .n = 3};
  expect_common(i);
  i.c[1] = out<float>(at(9, 9));
  expect_refused(i, std::string("c[1] overlaps a[1]") + separate);
  geqrf_batched<float> q{.a = changed, .tau = list<float, access_mode::write>({at(60, 3), at(63, 2)}), .m = 4, .n = 2};
  expect_common(q);
  q.m = 3, q.n = 3;
  expect_refused(q, "tau[1] holds 2 elements; expected at least 3");
  gels_batched<float> l{.a = changed,
                        .c = list<float, access_mode::read_write>({at(40, 3), at(43, 3)}),
                        .info = at<std::int32_t>(110, 2),
                        .m = 3,
                        .n = 2,
                        .nrhs = 1};
  expect_fine(l);
  l.n = 4;
  expect_refused(l, "m is 3; expected at least 4");
}

}  // namespace
}  // namespace troupe::blas
