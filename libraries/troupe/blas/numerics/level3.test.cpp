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
      auto p = any_parameters_up_to<T>(60);
      p.lda = leading(p.order());
      stored<T> a(triangle_of(p.lower(), false, p.order(), p.lda)), b(general(p.m, p.n, p.ldb)),
          c(general(p.m, p.n, p.ldc));
      if (!(p.alpha == T(0))) a.fill(random), b.fill(random);
      if (!(p.beta == T(0))) c.fill(random);
      const dense whole = a.now().completed(p.lower(), Hermitian);
      expect(make_request<R<T>>(p, a, b, c), c,
             p.left() ? reference::product(p.alpha, whole, b.now(), p.beta, c.now())
                      : reference::product(p.alpha, b.now(), whole, p.beta, c.now()),
             a, b);
    }
  }

  // C = alpha * op(A) * op(B)' + beta * C, where B is A if the request has one matrix. If Mirrored, the mirror image of
  // the product is added too.
  template <template <class> class R, bool Hermitian, bool Mirrored, class Alpha, class Beta>
  void expect_update() {
    constexpr bool two = requires { R<T>::ldb; } || requires(R<T> r) { r.b; };
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t n = extent_of_c(), k = size(50);
      auto p = any_parameters<Alpha, Beta>(n, n, k);
      if (Hermitian || is_complex<T>)
        p.trans = random.one_of({op::none, Hermitian ? op::conjugate_transpose : op::transpose});
      const std::int64_t rows = p.transposed() ? k : n, columns = p.transposed() ? n : k;
      p.lda = leading(rows), p.ldb = leading(rows);
      stored<T> a(general(rows, columns, p.lda)), b(general(rows, columns, p.ldb)),
          c(triangle_of(p.lower(), false, n, p.ldc));
      if (!(p.alpha == Alpha(0))) a.fill(random), b.fill(random);
      if (!(p.beta == Beta(0))) c.fill(random);
      const dense left = apply_op(p.trans, a.now()), right = apply_op(p.trans, two ? b.now() : a.now());
      const auto transposed = [](const dense& d) { return Hermitian ? d.transposed().conjugated() : d.transposed(); };
      dense before = c.now();
      if (Hermitian)
        for (std::int64_t j = 0; j < n; ++j) before(j, j).im = 0;
      answers want = reference::product(p.alpha, left, transposed(right), p.beta, before);
      if (Mirrored)
        add(want,
            reference::product(Hermitian ? number(p.alpha).conjugated() : number(p.alpha), right, transposed(left)));
      if (Hermitian) want = with_real_diagonal(std::move(want));
      if constexpr (two)
        expect(make_request<R<T>>(p, a, b, c), c, want, a, b);
      else
        expect(make_request<R<T>>(p, a, c), c, want, a);
    }
  }

  // Returns parameters for a triangular matrix that multiplies an m by n matrix.
  request_parameters<T> triangular_parameters(std::int64_t m, std::int64_t n) {
    auto p = any_parameters<T>(m, n);
    p.lda = leading(p.order());
    return p;
  }
  stored<T> any_triangular(const request_parameters<T>& p) {
    stored<T> a(triangle_of(p.lower(), p.unit(), p.order(), p.lda));
    fill_triangle(a);
    return a;
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
    const std::int64_t rows = this->size(60), columns = this->size(60);
    auto p = this->triangular_parameters(rows, columns);
    const bool in_place = this->random.between(0, 1) == 0;
    if (in_place) p.ldc = p.ldb;
    stored<T> a = this->any_triangular(p), b(general(p.m, p.n, p.ldb)), apart(general(p.m, p.n, p.ldc));
    stored<T>& c = in_place ? b : apart;
    if (!(p.alpha == T(0))) b.fill(this->random);
    const dense meant = p.op_of_triangle(a.now());
    this->expect(this->template make_request<trmm<T>>(p, a, b, c), c,
                 p.left() ? reference::product(p.alpha, meant, b.now()) : reference::product(p.alpha, b.now(), meant),
                 a);
    if (!in_place) {
      EXPECT_TRUE(b.untouched());
    }
  }
}

TYPED_TEST(level3, trsm_solutions_reproduce_their_right_hand_sides) {
  using T = TypeParam;
  for (int i = 0; i < 2 * this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t rows = this->size(90), columns = this->size(90);
    const auto p = this->triangular_parameters(rows, columns);
    stored<T> a = this->any_triangular(p), b(general(p.m, p.n, p.ldb));
    if (!(p.alpha == T(0))) b.fill(this->random);
    const answers right = reference::product(p.alpha, b.now(), [&] {
      dense one(p.n, p.n);
      return one.with_unit_diagonal();
    }());
    const auto r = this->template make_request<trsm<T>>(p, a, b);
    SCOPED_TRACE(this->story(r));
    this->run(r);
    const dense meant = p.op_of_triangle(a.now());
    answers back = p.left() ? reference::product(meant, b.now()) : reference::product(b.now(), meant);
    bool all = true;
    b.each([&](auto row, auto column) {
      expected& e = back(row, column);
      e.roundings = 2 * e.roundings + 6;
      e.magnitude += right(row, column).magnitude;
      all &= agrees<T>(as_element<T>(right(row, column).value), e);
    });
    EXPECT_TRUE(all);
    EXPECT_TRUE(b.untouched_outside());
    EXPECT_TRUE(a.untouched());
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
