// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Operations on symmetric, Hermitian and triangular matrices, compared with a reference of higher precision.
#include <troupe/blas/level3/level3.hpp>
#include <troupe/blas/testing/numerics.hpp>

namespace troupe::blas {
namespace {

template <class T>
class level3 : public blas_numerics {
 protected:
  static constexpr int rounds = 120;
  // Returns an extent that is sometimes larger than the blocks of the engine's own code.
  std::int64_t extent_of_c() { return random.between(0, 19) == 0 ? random.between(120, 300) : size(50); }

  template <template <class> class R, bool Hermitian>
  void expect_product() {
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t m = size(60), n = size(60), ldb = leading(m), ldc = leading(m);
      const side where = any_side();
      const triangle uplo = any_triangle();
      const std::int64_t order = where == side::left ? m : n, lda = leading(order);
      const bool lower = uplo == triangle::lower;
      stored<T> a(triangle_of(lower, false, order, lda)), b(general(m, n, ldb)), c(general(m, n, ldc));
      const T alpha = factor<T>(), beta = factor<T>();
      if (!(alpha == T(0))) a.fill(random), b.fill(random);
      if (!(beta == T(0))) c.fill(random);
      const dense whole = a.now().completed(lower, Hermitian);
      expect(R<T>{.a = a,
                  .b = b,
                  .c = c,
                  .m = m,
                  .n = n,
                  .side = where,
                  .uplo = uplo,
                  .alpha = given(alpha),
                  .beta = given(beta),
                  .lda = written(lda, order),
                  .ldb = written(ldb, m),
                  .ldc = written(ldc, m)},
             c,
             where == side::left ? reference::product(alpha, whole, b.now(), beta, c.now())
                                 : reference::product(alpha, b.now(), whole, beta, c.now()),
             a, b);
    }
  }

  // C = alpha * op(A) * op(B)' + beta * C, where B is A if the request has one matrix. If Mirrored, the mirror image of
  // the product is added too.
  template <template <class> class R, bool Hermitian, bool Mirrored, class Alpha, class Beta>
  void expect_update() {
    constexpr bool two = requires { R<T>::ldb; } || requires(R<T> r) { r.b; };
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t n = extent_of_c(), k = size(50), ldc = leading(n);
      const op trans = Hermitian       ? random.one_of({op::none, op::conjugate_transpose})
                       : is_complex<T> ? random.one_of({op::none, op::transpose})
                                       : any_op();
      const std::int64_t rows = trans == op::none ? n : k, columns = trans == op::none ? k : n, lda = leading(rows),
                         ldb = leading(rows);
      const triangle uplo = any_triangle();
      stored<T> a(general(rows, columns, lda)), b(general(rows, columns, ldb)),
          c(triangle_of(uplo == triangle::lower, false, n, ldc));
      const Alpha alpha = factor<Alpha>();
      const Beta beta = factor<Beta>();
      if (!(alpha == Alpha(0))) a.fill(random), b.fill(random);
      if (!(beta == Beta(0))) c.fill(random);
      const dense left = apply_op(trans, a.now()), right = apply_op(trans, two ? b.now() : a.now());
      const auto transposed = [](const dense& d) { return Hermitian ? d.transposed().conjugated() : d.transposed(); };
      dense before = c.now();
      if (Hermitian)
        for (std::int64_t j = 0; j < n; ++j) before(j, j).im = 0;
      answers want = reference::product(alpha, left, transposed(right), beta, before);
      if (Mirrored) {
        const answers second =
            reference::product(Hermitian ? number(alpha).conjugated() : number(alpha), right, transposed(left));
        c.each([&](auto row, auto column) {
          expected& e = want(row, column);
          const expected& f = second(row, column);
          e = {e.value + f.value, e.magnitude + f.magnitude, e.roundings + f.roundings};
        });
      }
      if (Hermitian)
        for (std::int64_t j = 0; j < n; ++j) want(j, j).value.im = 0;
      if constexpr (two)
        expect(R<T>{.a = a,
                    .b = b,
                    .c = c,
                    .n = n,
                    .k = k,
                    .uplo = uplo,
                    .trans = trans,
                    .alpha = given(alpha),
                    .beta = given(beta),
                    .lda = written(lda, rows),
                    .ldb = written(ldb, rows),
                    .ldc = written(ldc, n)},
               c, want, a, b);
      else
        expect(R<T>{.a = a,
                    .c = c,
                    .n = n,
                    .k = k,
                    .uplo = uplo,
                    .trans = trans,
                    .alpha = given(alpha),
                    .beta = given(beta),
                    .lda = written(lda, rows),
                    .ldc = written(ldc, n)},
               c, want, a);
    }
  }

  struct triangular_matrix {
    std::int64_t lda;
    side where;
    triangle uplo;
    op trans;
    diagonal diag;
    stored<T> a;
    dense meant;
  };
  triangular_matrix any_triangular(std::int64_t m, std::int64_t n) {
    const side where = any_side();
    const triangle uplo = any_triangle();
    const op trans = any_op();
    const diagonal diag = any_diagonal();
    const std::int64_t order = where == side::left ? m : n, lda = leading(order);
    stored<T> a(triangle_of(uplo == triangle::lower, diag == diagonal::unit, order, lda));
    a.fill(random);
    dense values = a.now();  // far from singular
    for (std::int64_t j = 0; j < order; ++j)
      for (std::int64_t i = 0; i < order; ++i)
        values(i, j) = i == j ? values(i, j) + number(values(i, j).re < 0 ? -1 : 1)
                              : values(i, j) * number(wide(1) / static_cast<wide>(order), 0);
    a.set(values);
    dense meant = apply_op(trans, diag == diagonal::unit ? a.now().with_unit_diagonal() : a.now());
    return {lda, where, uplo, trans, diag, std::move(a), std::move(meant)};
  }
};
TYPED_TEST_SUITE(level3, full_elements, element_names);
TROUPE_SUITE_LIKE(level3, level3_complex, complex_elements);

TYPED_TEST(level3, symm_multiplies_by_a_symmetric_matrix) { this->template expect_product<symm, false>(); }
TYPED_TEST(level3_complex, hemm_multiplies_by_a_hermitian_matrix) { this->template expect_product<hemm, true>(); }
TYPED_TEST(level3, syrk_updates_a_triangle) {
  this->template expect_update<syrk, false, false, TypeParam, TypeParam>();
}
TYPED_TEST(level3, syr2k_updates_a_triangle) {
  this->template expect_update<syr2k, false, true, TypeParam, TypeParam>();
}
TYPED_TEST(level3, syrkx_updates_a_triangle) {
  this->template expect_update<syrkx, false, false, TypeParam, TypeParam>();
}
TYPED_TEST(level3_complex, herk_updates_a_triangle) {
  this->template expect_update<herk, true, false, real_of<TypeParam>, real_of<TypeParam>>();
}
TYPED_TEST(level3_complex, her2k_updates_a_triangle) {
  this->template expect_update<her2k, true, true, TypeParam, real_of<TypeParam>>();
}
TYPED_TEST(level3_complex, herkx_updates_a_triangle) {
  this->template expect_update<herkx, true, false, TypeParam, real_of<TypeParam>>();
}

TYPED_TEST(level3, trmm_multiplies_into_another_matrix_or_in_place) {
  using T = TypeParam;
  for (int i = 0; i < 2 * this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t m = this->size(60), n = this->size(60), ldb = this->leading(m);
    auto t = this->any_triangular(m, n);
    const bool in_place = this->random.between(0, 1) == 0;
    const std::int64_t ldc = in_place ? ldb : this->leading(m);
    stored<T> b(general(m, n, ldb)), apart(general(m, n, ldc));
    stored<T>& c = in_place ? b : apart;
    const T alpha = this->template factor<T>();
    if (!(alpha == T(0))) b.fill(this->random);
    const trmm<T> r{.a = t.a,
                    .b = b,
                    .c = c,
                    .m = m,
                    .n = n,
                    .side = t.where,
                    .uplo = t.uplo,
                    .trans = t.trans,
                    .diag = t.diag,
                    .alpha = this->given(alpha),
                    .lda = this->written(t.lda, t.where == side::left ? m : n),
                    .ldb = this->written(ldb, m),
                    .ldc = this->written(ldc, m)};
    this->expect(r, c,
                 t.where == side::left ? reference::product(alpha, t.meant, b.now())
                                       : reference::product(alpha, b.now(), t.meant),
                 t.a);
    if (!in_place) {
      EXPECT_TRUE(b.untouched());
    }
  }
}

TYPED_TEST(level3, trsm_solutions_reproduce_their_right_hand_sides) {
  using T = TypeParam;
  for (int i = 0; i < 2 * this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t m = this->size(90), n = this->size(90), ldb = this->leading(m);
    auto t = this->any_triangular(m, n);
    stored<T> b(general(m, n, ldb));
    const T alpha = this->template factor<T>();
    if (!(alpha == T(0))) b.fill(this->random);
    const answers right = reference::product(alpha, b.now(), [&] {
      dense one(n, n);
      return one.with_unit_diagonal();
    }());
    const trsm<T> r{.a = t.a,
                    .b = b,
                    .m = m,
                    .n = n,
                    .side = t.where,
                    .uplo = t.uplo,
                    .trans = t.trans,
                    .diag = t.diag,
                    .alpha = this->given(alpha),
                    .lda = this->written(t.lda, t.where == side::left ? m : n),
                    .ldb = this->written(ldb, m)};
    SCOPED_TRACE(this->story(r));
    this->run(r);
    answers back = t.where == side::left ? reference::product(t.meant, b.now()) : reference::product(b.now(), t.meant);
    bool all = true;
    b.each([&](auto row, auto column) {
      expected& e = back(row, column);
      e.roundings = 2 * e.roundings + 6;
      e.magnitude += right(row, column).magnitude;
      all &= agrees<T>(as_element<T>(right(row, column).value), e);
    });
    EXPECT_TRUE(all);
    EXPECT_TRUE(b.untouched_outside());
    EXPECT_TRUE(t.a.untouched());
  }
}

TYPED_TEST(level3_complex, syrkx_with_beta_1_and_herkx_keep_infinities_in_their_own_part) {
  using T = TypeParam;
  using real = real_of<T>;
  constexpr real inf = std::numeric_limits<real>::infinity();
  if (this->engine->is_cuda()) GTEST_SKIP() << "cuBLAS treats beta as any complex number: docs/blas.md";
  const auto expect = [](stored<T>& c, T want) {
    c.each([&](auto i, auto j) {
      if (i != j) {
        EXPECT_EQ(c.at(i, j), want) << i << ", " << j;
      }
    });
    EXPECT_TRUE(c.untouched_outside());
  };
  for (const std::int64_t n : {5, 300})  // smaller and larger than a block
    for (const triangle uplo : {triangle::lower, triangle::upper}) {
      stored<T> a(vector_of(n, 1)), c(triangle_of(uplo == triangle::lower, false, n, n));
      a.each([&](auto i, auto) { a.at(i) = T(1); });
      const auto start = [&] {
        c.each([&](auto i, auto j) { c.at(i, j) = i == j ? T(1) : T(inf, 1); });
        c.remember();
      };
      start();
      this->run(syrkx<T>{.a = a, .b = a, .c = c, .n = n, .k = 1, .uplo = uplo, .beta = T(1)});
      expect(c, T(inf, 1));
      for (const real beta : {real(1), real(2), real(-3)}) {
        start();
        this->run(herkx<T>{.a = a, .b = a, .c = c, .n = n, .k = 1, .uplo = uplo, .beta = beta});
        expect(c, T(beta * inf, beta));
      }
    }
}

TYPED_TEST(level3, a_nan_beta_makes_every_result_nan) {
  using T = TypeParam;
  const T nan = poison<T>();
  for (const std::int64_t n : {1, 5, 40, 150}) {
    stored<T> a(general(n, n, n)), c(general(n, n, n)), triangle(triangle_of(true, false, n, n));
    a.fill(this->random), c.fill(this->random), triangle.fill(this->random);
    const auto all_nan = [](stored<T>& s) {
      bool all = true;
      s.each([&](auto i, auto j) { all &= number(s.at(i, j)).is_nan(); });
      return all;
    };
    this->run(symm<T>{.a = a, .b = a, .c = c, .m = n, .n = n, .beta = nan});
    EXPECT_TRUE(all_nan(c)) << n;
    this->run(syrk<T>{.a = a, .c = triangle, .n = n, .k = n, .beta = nan});
    EXPECT_TRUE(all_nan(triangle)) << n;
    EXPECT_TRUE(triangle.untouched_outside()) << n;
  }
}

}  // namespace
}  // namespace troupe::blas
