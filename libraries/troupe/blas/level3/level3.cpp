// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/internal/checks.hpp>
#include <troupe/blas/level3/level3.hpp>

namespace troupe::blas::detail {

// Checks updates of one triangle of the n by n matrix C. The other triangle does not change, even if beta is 0.
template <class R>
static void check_rank_k(const R& r, checker& check) {
  if constexpr (is_hermitian<R>)
    check.require(r.trans != op::transpose, r.trans, "is transpose",
                  "none or conjugate_transpose: the result is Hermitian");
  else if (is_complex<std::remove_pointer_t<decltype(r.c.data())>>)
    check.require(r.trans != op::conjugate_transpose, r.trans, "is conjugate_transpose",
                  "none or transpose: the result is symmetric");
  positive(check, r.n, r.k);
  const shape s = stored(r.trans, r.n, r.k);
  holds_matrix(check, r.a, s, r.lda);
  if constexpr (requires { r.b; }) holds_matrix(check, r.b, s, r.ldb);
  holds_matrix(check, r.c, {r.n, r.n}, r.ldc);
  check.number(r.alpha);
  check.number(r.beta);
}

// Checks a product with a square matrix, symmetric or triangular, on one side. C may be separate from B.
template <class R>
static void check_sided(const R& r, checker& check) {
  constexpr bool triangular = requires { r.diag; };
  positive(check, r.m, r.n);
  const extent order = r.side == side::left ? r.m : r.n;
  holds_matrix(check, r.a, {order, order}, r.lda);
  holds_matrix(check, r.b, {r.m, r.n}, r.ldb);
  if constexpr (requires { r.c; }) {
    holds_matrix(check, r.c, {r.m, r.n}, r.ldc);
    if (triangular) in_place(check, r.b, or_tight(r.ldb, r.m), r.c, or_tight(r.ldc, r.m));
    factors(check, r, r.c);
  } else {
    factors(check, r, r.b);
  }
}

template <class R>
void check_product(const R& r, checker& check) {
  if constexpr (requires { r.k; })
    check_rank_k(r, check);
  else
    check_sided(r, check);
}

TROUPE_CHECKED_BY(check_product, all_level3)

}  // namespace troupe::blas::detail
