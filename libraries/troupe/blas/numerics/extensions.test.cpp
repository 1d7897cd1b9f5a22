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
    auto p = this->template any_parameters_up_to<T>(150);
    op ta = this->any_op(), tb = this->any_op();
    const auto over = this->random.between(0, 3);  // 1: C is A, 2: C is B
    if (over == 1) ta = op::none;
    if (over == 2) tb = op::none;
    const bool transposes_a = ta != op::none, transposes_b = tb != op::none;
    p.lda = this->leading(transposes_a ? p.n : p.m), p.ldb = this->leading(transposes_b ? p.n : p.m);
    if (over == 1) p.ldc = p.lda;
    if (over == 2) p.ldc = p.ldb;
    stored<T> a(general(p.lda.rows, transposes_a ? p.m : p.n, p.lda)),
        b(general(p.ldb.rows, transposes_b ? p.m : p.n, p.ldb)), apart(general(p.m, p.n, p.ldc));
    stored<T>& c = over == 1 ? a : over == 2 ? b : apart;
    if (!(p.alpha == T(0))) a.fill(this->random);
    if (!(p.beta == T(0))) b.fill(this->random);
    auto r = this->template make_request<geam<T>>(p, a, b, c);
    r.trans_a = ta, r.trans_b = tb;
    this->expect(r, c, reference::sum(p.alpha, apply_op(ta, a.now()), p.beta, apply_op(tb, b.now())));
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
    auto p = this->template any_parameters_up_to<T>(150);
    const bool in_place = this->random.between(0, 1) == 0;
    if (in_place) p.ldc = p.lda;
    stored<T> a(general(p.m, p.n, p.lda)), x(vector_of(p.order(), p.incx)), apart(general(p.m, p.n, p.ldc));
    stored<T>& c = in_place ? a : apart;
    a.fill(this->random);
    x.fill(this->random);
    answers want(p.m, p.n);
    const dense factors = x.now(), before = a.now();
    for (std::int64_t j = 0; j < p.n; ++j)
      for (std::int64_t row = 0; row < p.m; ++row) {
        const number f = factors(p.left() ? row : j);
        want(row, j).add(f * before(row, j), f.size() * before(row, j).size());
      }
    this->expect(this->template make_request<dgmm<T>>(p, a, x, c), c, want, x);
    if (!in_place) {
      EXPECT_TRUE(a.untouched());
    }
  }
}

}  // namespace
}  // namespace troupe::blas
