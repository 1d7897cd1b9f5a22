// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/internal/checks.hpp>
#include <troupe/blas/level1/level1.hpp>

namespace troupe::blas::detail {

template <class R>
void check_vectors(const R& r, checker& check) {
  check.positive(r.n);
  vector(check, r.x, r.n, r.incx);
  if constexpr (requires { r.y; }) {
    vector(check, r.y, r.n, r.incy);
    factors(check, r, r.y);
  } else {
    factors(check, r, r.x);
  }
  if constexpr (requires { r.result; }) result_to(check, r.result);
}

TROUPE_CHECKED_BY(check_vectors, all_level1)

}  // namespace troupe::blas::detail
