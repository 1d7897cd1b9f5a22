// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Updates of a matrix by vectors, compared with a reference of higher precision.
#include <troupe/blas/level2/updates.hpp>
#include <troupe/blas/testing/numerics.hpp>

namespace troupe::blas {
namespace {

template <class T>
class updates : public blas_numerics {
 protected:
  static constexpr int rounds = 200;

  // Returns x * y', where y' is transposed, and conjugated if Conjugated.
  template <bool Conjugated>
  static dense across(const stored<T>& y) {
    return Conjugated ? y.now().transposed().conjugated() : y.now().transposed();
  }

  template <template <class> class R, bool Conjugated>
  void expect_general() {
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t m = size(80), n = size(80), lda = leading(m), incx = increment(), incy = increment();
      stored<T> x(vector_of(m, incx)), y(vector_of(n, incy)), a(general(m, n, lda));
      const T alpha = factor<T>();
      if (!(alpha == T(0))) x.fill(random), y.fill(random);
      a.fill(random);
      expect(R<T>{.x = x,
                  .y = y,
                  .a = a,
                  .m = m,
                  .n = n,
                  .alpha = given(alpha),
                  .lda = written(lda, m),
                  .incx = written(incx, 1),
                  .incy = written(incy, 1)},
             a, reference::product(alpha, x.now(), across<Conjugated>(y), 1, a.now()), x, y);
    }
  }

  // Checks an update by one vector. Factors are of type T, or real for her and hpr.
  template <template <class> class R, bool Hermitian, bool Packed, class Factor>
  void expect_rank_1() {
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t n = size(80), lda = leading(n), incx = increment();
      const triangle uplo = any_triangle();
      const bool lower = uplo == triangle::lower;
      stored<T> x(vector_of(n, incx)), a(Packed ? packed_triangle(lower, false, n) : triangle_of(lower, false, n, lda));
      const Factor alpha = factor<Factor>();
      if (!(alpha == Factor(0))) x.fill(random);
      a.fill(random);
      const answers want = reference::product(alpha, x.now(), across<Hermitian>(x), 1, a.now());
      if constexpr (Packed)
        expect(R<T>{.x = x, .a = a, .n = n, .uplo = uplo, .alpha = given(alpha), .incx = written(incx, 1)}, a,
               real_diagonal<Hermitian>(want), x);
      else
        expect(R<T>{.x = x,
                    .a = a,
                    .n = n,
                    .uplo = uplo,
                    .alpha = given(alpha),
                    .lda = written(lda, n),
                    .incx = written(incx, 1)},
               a, real_diagonal<Hermitian>(want), x);
    }
  }

  template <template <class> class R, bool Hermitian, bool Packed>
  void expect_rank_2() {
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t n = size(80), lda = leading(n), incx = increment(), incy = increment();
      const triangle uplo = any_triangle();
      const bool lower = uplo == triangle::lower;
      stored<T> x(vector_of(n, incx)), y(vector_of(n, incy)),
          a(Packed ? packed_triangle(lower, false, n) : triangle_of(lower, false, n, lda));
      const T alpha = factor<T>();
      if (!(alpha == T(0))) x.fill(random), y.fill(random);
      a.fill(random);
      answers want = reference::product(alpha, x.now(), across<Hermitian>(y), 1, a.now());
      const number other = Hermitian ? number(alpha).conjugated() : number(alpha);
      const answers second = reference::product(other, y.now(), across<Hermitian>(x));
      a.each([&](auto r, auto c) {
        expected& e = want(r, c);
        e = {e.value + second(r, c).value, e.magnitude + second(r, c).magnitude, e.roundings + second(r, c).roundings};
      });
      if constexpr (Packed)
        expect(R<T>{.x = x,
                    .y = y,
                    .a = a,
                    .n = n,
                    .uplo = uplo,
                    .alpha = given(alpha),
                    .incx = written(incx, 1),
                    .incy = written(incy, 1)},
               a, real_diagonal<Hermitian>(want), x, y);
      else
        expect(R<T>{.x = x,
                    .y = y,
                    .a = a,
                    .n = n,
                    .uplo = uplo,
                    .alpha = given(alpha),
                    .lda = written(lda, n),
                    .incx = written(incx, 1),
                    .incy = written(incy, 1)},
               a, real_diagonal<Hermitian>(want), x, y);
    }
  }

 private:
  // Checks that imaginary parts of a Hermitian diagonal count as 0, and that they become exactly 0.
  template <bool Hermitian>
  answers real_diagonal(answers want) {
    if (Hermitian)
      for (std::int64_t i = 0; i < want.rows(); ++i) want(i, i).value.im = 0;
    return want;
  }
};
TROUPE_SUITE_LIKE(updates, updates_full, full_elements);
TROUPE_SUITE_LIKE(updates, updates_real, real_elements);
TROUPE_SUITE_LIKE(updates, updates_complex, complex_elements);

TYPED_TEST(updates_real, ger_adds_a_product) { this->template expect_general<ger, false>(); }
TYPED_TEST(updates_complex, geru_adds_a_product) { this->template expect_general<geru, false>(); }
TYPED_TEST(updates_complex, gerc_adds_a_product_with_the_conjugate) { this->template expect_general<gerc, true>(); }
TYPED_TEST(updates_full, syr_adds_a_symmetric_product) { this->template expect_rank_1<syr, false, false, TypeParam>(); }
TYPED_TEST(updates_complex, her_adds_a_hermitian_product) {
  this->template expect_rank_1<her, true, false, real_of<TypeParam>>();
}
TYPED_TEST(updates_real, spr_adds_to_a_packed_matrix) { this->template expect_rank_1<spr, false, true, TypeParam>(); }
TYPED_TEST(updates_complex, hpr_adds_to_a_packed_matrix) {
  this->template expect_rank_1<hpr, true, true, real_of<TypeParam>>();
}
TYPED_TEST(updates_full, syr2_adds_two_products) { this->template expect_rank_2<syr2, false, false>(); }
TYPED_TEST(updates_complex, her2_adds_two_products) { this->template expect_rank_2<her2, true, false>(); }
TYPED_TEST(updates_real, spr2_adds_to_a_packed_matrix) { this->template expect_rank_2<spr2, false, true>(); }
TYPED_TEST(updates_complex, hpr2_adds_to_a_packed_matrix) { this->template expect_rank_2<hpr2, true, true>(); }

}  // namespace
}  // namespace troupe::blas
