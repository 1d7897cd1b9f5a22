// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/extensions.hpp>
#include <troupe/blas/testing/numerics.hpp>

namespace troupe::blas {
namespace {

template <class T>
class extensions : public blas_numerics {
 protected:
  static constexpr int rounds = 200;
};
TYPED_TEST_SUITE(extensions, full_elements, element_names);

TYPED_TEST(extensions, geam_adds_matrices_into_another_one_or_in_place) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t m = this->size(150), n = this->size(150);
    op ta = this->any_op(), tb = this->any_op();
    const auto over = this->random.between(0, 3);  // 1: C is A, 2: C is B
    if (over == 1) ta = op::none;
    if (over == 2) tb = op::none;
    const bool transposes_a = ta != op::none, transposes_b = tb != op::none;
    const std::int64_t rows_a = transposes_a ? n : m, rows_b = transposes_b ? n : m, lda = this->leading(rows_a),
                       ldb = this->leading(rows_b),
                       ldc = over == 1   ? lda
                             : over == 2 ? ldb
                                         : this->leading(m);
    stored<T> a(general(rows_a, transposes_a ? m : n, lda)), b(general(rows_b, transposes_b ? m : n, ldb)),
        apart(general(m, n, ldc));
    stored<T>& c = over == 1 ? a : over == 2 ? b : apart;
    const T alpha = this->template factor<T>(), beta = this->template factor<T>();
    if (!(alpha == T(0))) a.fill(this->random);
    if (!(beta == T(0))) b.fill(this->random);
    this->expect(geam<T>{.a = a,
                         .b = b,
                         .c = c,
                         .m = m,
                         .n = n,
                         .trans_a = ta,
                         .trans_b = tb,
                         .alpha = this->given(alpha),
                         .beta = this->given(beta),
                         .lda = this->written(lda, rows_a),
                         .ldb = this->written(ldb, rows_b),
                         .ldc = this->written(ldc, m)},
                 c, reference::sum(alpha, apply_op(ta, a.now()), beta, apply_op(tb, b.now())));
    if (over != 1) {
      EXPECT_TRUE(a.untouched());
    }
    if (over != 2) {
      EXPECT_TRUE(b.untouched());
    }
  }
}

TYPED_TEST(extensions, dgmm_multiplies_by_a_diagonal_into_another_matrix_or_in_place) {
  using T = TypeParam;
  for (int i = 0; i < this->rounds && !this->HasFailure(); ++i) {
    const std::int64_t m = this->size(150), n = this->size(150), lda = this->leading(m), inc = this->increment();
    const side where = this->any_side();
    const bool in_place = this->random.between(0, 1) == 0;
    const std::int64_t ldc = in_place ? lda : this->leading(m), order = where == side::left ? m : n;
    stored<T> a(general(m, n, lda)), x(vector_of(order, inc)), apart(general(m, n, ldc));
    stored<T>& c = in_place ? a : apart;
    a.fill(this->random);
    x.fill(this->random);
    answers want(m, n);
    const dense factors = x.now(), before = a.now();
    for (std::int64_t q = 0; q < n; ++q)
      for (std::int64_t p = 0; p < m; ++p) {
        const number f = factors(where == side::left ? p : q);
        want(p, q).add(f * before(p, q), f.size() * before(p, q).size());
      }
    this->expect(dgmm<T>{.a = a,
                         .x = x,
                         .c = c,
                         .m = m,
                         .n = n,
                         .side = where,
                         .lda = this->written(lda, m),
                         .incx = this->written(inc, 1),
                         .ldc = this->written(ldc, m)},
                 c, want, x);
    if (!in_place) {
      EXPECT_TRUE(a.untouched());
    }
  }
}

}  // namespace
}  // namespace troupe::blas
