// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/internal/checks.hpp>
#include <troupe/blas/level2/triangular.hpp>

namespace troupe::blas::detail {

// Checks operations on a triangular matrix that is full, band or packed.
template <class R>
void check_triangular(const R& r, checker& check) {
  check.positive(r.n);
  if constexpr (requires { r.k; }) {
    check.at_least(r.k, 0);
    holds_matrix(check, r.a, {r.k + 1, r.n}, r.lda);
  } else if constexpr (requires { r.lda; }) {
    holds_matrix(check, r.a, {r.n, r.n}, r.lda);
  } else {
    packed(check, r.a, r.n);
  }
  vector(check, r.x, r.n, r.incx);
}

TROUPE_CHECKED_BY(check_triangular, all_triangular_vectors)

}  // namespace troupe::blas::detail
