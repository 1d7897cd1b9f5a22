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
    request_parameters<T> p;
    stored<T> a;
    dense meant;
  };
  matrix any_matrix(form f) {
    const std::int64_t n = size(f == full ? 150 : 60), k = f == band ? random.between(0, n + 2) : 0;
    auto p = any_parameters<T>(n, n, k);
    if (f == band) p.lda = leading(k + 1);
    stored<T> a(f == full   ? triangle_of(p.lower(), p.unit(), n, p.lda)
                : f == band ? band_triangle(p.lower(), p.unit(), n, k, p.lda)
                            : packed_triangle(p.lower(), p.unit(), n));
    fill_triangle(a);
    dense meant = p.op_of_triangle(a.now());
    return {p, std::move(a), std::move(meant)};
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
    for (std::int64_t i = 0; i < m.p.n; ++i) {
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
      stored<T> x(vector_of(m.p.n, m.p.incx));
      x.fill(random);
      expect_it(make_request<R<T>>(m.p, m.a, x), m, x);
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
