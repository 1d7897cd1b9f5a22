// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Operations on a triangular matrix and a vector. A solution is correct if the matrix maps it back to the right-hand
// side.
#include <troupe/blas/level2/triangular.hpp>
#include <troupe/blas/testing/numerics.hpp>

namespace troupe::blas {
namespace {

template <class T>
class triangular : public blas_numerics {
 protected:
  enum form { full, band, packed };

  struct matrix {
    std::int64_t n, k, lda;
    triangle uplo;
    op trans;
    diagonal diag;
    stored<T> a;
    dense meant;
  };
  matrix any_matrix(form f) {
    const std::int64_t n = size(f == full ? 150 : 60), k = f == band ? random.between(0, n + 2) : 0,
                       lda = leading(f == band ? k + 1 : n);
    const triangle uplo = any_triangle();
    const op trans = any_op();
    const diagonal diag = any_diagonal();
    const bool lower = uplo == triangle::lower, unit = diag == diagonal::unit;
    stored<T> a(f == full   ? triangle_of(lower, unit, n, lda)
                : f == band ? band_triangle(lower, unit, n, k, lda)
                            : packed_triangle(lower, unit, n));
    a.fill(random);
    // Makes the matrix far from singular: otherwise solutions grow without bound.
    dense values = a.now();
    for (std::int64_t j = 0; j < n; ++j)
      for (std::int64_t i = 0; i < n; ++i)
        values(i, j) = i == j ? values(i, j) + number(values(i, j).re < 0 ? -1 : 1)
                              : values(i, j) * number(wide(1) / static_cast<wide>(n), 0);
    a.set(values);
    dense meant = apply_op(trans, unit ? a.now().with_unit_diagonal() : a.now());
    return {n, k, lda, uplo, trans, diag, std::move(a), std::move(meant)};
  }

  template <class R>
  void expect_product(const R& r, const matrix& m, stored<T>& x) {
    expect(r, x, reference::product(m.meant, x.now()), m.a);
  }
  template <class R>
  void expect_solution(const R& r, const matrix& m, stored<T>& x) {
    SCOPED_TRACE(story(r));
    const dense right = x.now();
    run(r);
    answers back = reference::product(m.meant, x.now());
    for (std::int64_t i = 0; i < m.n; ++i) {
      back(i).roundings += 4;
      EXPECT_TRUE(one_agrees(as_element<T>(right(i)), back(i))) << "row " << i;
    }
    EXPECT_TRUE(x.untouched_outside());
    EXPECT_TRUE(m.a.untouched());
  }

  template <template <class> class R, class Expect>
  void each(form f, Expect&& expect_it) {
    for (int i = 0; i < 250 && !HasFailure(); ++i) {
      matrix m = any_matrix(f);
      const std::int64_t inc = increment();
      stored<T> x(vector_of(m.n, inc));
      x.fill(random);
      if constexpr (requires { R<T>::k; })
        expect_it(R<T>{.a = m.a,
                       .x = x,
                       .n = m.n,
                       .k = m.k,
                       .uplo = m.uplo,
                       .trans = m.trans,
                       .diag = m.diag,
                       .lda = written(m.lda, m.k + 1),
                       .incx = written(inc, 1)},
                  m, x);
      else if constexpr (requires { R<T>::lda; })
        expect_it(R<T>{.a = m.a,
                       .x = x,
                       .n = m.n,
                       .uplo = m.uplo,
                       .trans = m.trans,
                       .diag = m.diag,
                       .lda = written(m.lda, m.n),
                       .incx = written(inc, 1)},
                  m, x);
      else
        expect_it(
            R<T>{.a = m.a, .x = x, .n = m.n, .uplo = m.uplo, .trans = m.trans, .diag = m.diag, .incx = written(inc, 1)},
            m, x);
    }
  }
  template <template <class> class R>
  void expect_products(form f) {
    each<R>(f, [this](const auto& r, const matrix& m, stored<T>& x) { this->expect_product(r, m, x); });
  }
  template <template <class> class R>
  void expect_solutions(form f) {
    each<R>(f, [this](const auto& r, const matrix& m, stored<T>& x) { this->expect_solution(r, m, x); });
  }
};
TYPED_TEST_SUITE(triangular, full_elements, element_names);

TYPED_TEST(triangular, trmv_multiplies) { this->template expect_products<trmv>(this->full); }
TYPED_TEST(triangular, tbmv_multiplies_by_a_band) { this->template expect_products<tbmv>(this->band); }
TYPED_TEST(triangular, tpmv_multiplies_by_a_packed_matrix) { this->template expect_products<tpmv>(this->packed); }
TYPED_TEST(triangular, trsv_solves) { this->template expect_solutions<trsv>(this->full); }
TYPED_TEST(triangular, tbsv_solves_with_a_band) { this->template expect_solutions<tbsv>(this->band); }
TYPED_TEST(triangular, tpsv_solves_with_a_packed_matrix) { this->template expect_solutions<tpsv>(this->packed); }

}  // namespace
}  // namespace troupe::blas
