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
      const auto p = any_parameters_up_to<T>(80);
      stored<T> x(vector_of(p.m, p.incx)), y(vector_of(p.n, p.incy)), a(general(p.m, p.n, p.lda));
      if (!(p.alpha == T(0))) x.fill(random), y.fill(random);
      a.fill(random);
      expect(make_request<R<T>>(p, x, y, a), a, reference::product(p.alpha, x.now(), across<Conjugated>(y), 1, a.now()),
             x, y);
    }
  }

  // Checks an update by one vector. Factors are of type T, or real for her and hpr.
  template <template <class> class R, bool Hermitian, bool Packed, class Factor>
  void expect_rank_1() {
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t n = size(80);
      const auto p = any_parameters<Factor>(n, n);
      stored<T> x(vector_of(n, p.incx)), a(triangle_for<Packed>(p));
      if (!(p.alpha == Factor(0))) x.fill(random);
      a.fill(random);
      const answers want = reference::product(p.alpha, x.now(), across<Hermitian>(x), 1, a.now());
      expect(make_request<R<T>>(p, x, a), a, real_diagonal<Hermitian>(want), x);
    }
  }

  template <template <class> class R, bool Hermitian, bool Packed>
  void expect_rank_2() {
    for (int i = 0; i < rounds && !HasFailure(); ++i) {
      const std::int64_t n = size(80);
      const auto p = any_parameters<T>(n, n);
      stored<T> x(vector_of(n, p.incx)), y(vector_of(n, p.incy)), a(triangle_for<Packed>(p));
      if (!(p.alpha == T(0))) x.fill(random), y.fill(random);
      a.fill(random);
      answers want = reference::product(p.alpha, x.now(), across<Hermitian>(y), 1, a.now());
      const number other = Hermitian ? number(p.alpha).conjugated() : number(p.alpha);
      add(want, reference::product(other, y.now(), across<Hermitian>(x)));
      expect(make_request<R<T>>(p, x, y, a), a, real_diagonal<Hermitian>(want), x, y);
    }
  }

 private:
  template <bool Packed, class P>
  static layout triangle_for(const P& p) {
    return Packed ? packed_triangle(p.lower(), false, p.n) : triangle_of(p.lower(), false, p.n, p.lda);
  }
  // Checks that imaginary parts of a Hermitian diagonal count as 0, and that they become exactly 0.
  template <bool Hermitian>
  static answers real_diagonal(const answers& want) {
    return Hermitian ? with_real_diagonal(want) : want;
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
