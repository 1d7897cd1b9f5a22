// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/internal/checks.hpp>
#include <troupe/blas/level2/updates.hpp>

namespace troupe::blas::detail {

// Checks updates of a matrix, general or symmetric, full or packed, by one or two vectors.
template <class R>
void check_update(const R& r, checker& check) {
  shape s{r.n, r.n};
  if constexpr (requires { r.m; }) {
    positive(check, r.m, r.n);
    s.rows = r.m;
  } else {
    check.positive(r.n);
  }
  vector(check, r.x, s.rows, r.incx);
  if constexpr (requires { r.y; }) vector(check, r.y, r.n, r.incy);
  if constexpr (requires { r.lda; })
    holds_matrix(check, r.a, s, r.lda);
  else
    packed(check, r.a, r.n);
  check.number(r.alpha);
}

TROUPE_CHECKED_BY(check_update, all_updates)

}  // namespace troupe::blas::detail
