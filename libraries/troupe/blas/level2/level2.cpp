// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/internal/checks.hpp>
#include <troupe/blas/level2/level2.hpp>

namespace troupe::blas::detail {

// Checks y = alpha * op(A) * x + beta * y, where A is general or symmetric, and full, band or packed.
template <class R>
void check_vector_product(const R& r, checker& check) {
  extent rows = r.n, nx = r.n, ny = r.n;
  if constexpr (requires { r.m; }) {
    positive(check, r.m, r.n);
    rows = r.m;
    (r.trans == op::none ? ny : nx) = r.m;
  } else {
    check.positive(r.n);
  }
  if constexpr (requires { r.kl; }) {
    check.at_least(r.kl, 0);
    check.at_least(r.ku, 0);
    holds_matrix(check, r.a, {r.kl + r.ku + 1, r.n}, r.lda);
  } else if constexpr (requires { r.k; }) {
    check.at_least(r.k, 0);
    holds_matrix(check, r.a, {r.k + 1, r.n}, r.lda);
  } else if constexpr (requires { r.lda; }) {
    holds_matrix(check, r.a, {rows, r.n}, r.lda);
  } else {
    packed(check, r.a, r.n);
  }
  vector(check, r.x, nx, r.incx);
  vector(check, r.y, ny, r.incy);
  factors(check, r, r.y);
}

TROUPE_CHECKED_BY(check_vector_product, all_level2)

}  // namespace troupe::blas::detail
