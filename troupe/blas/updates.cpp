// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/internal/checks.hpp>
#include <troupe/blas/updates.hpp>

namespace troupe::blas {
namespace {

template <class R>
void check_general(const R& r, checker& check) {
  positive(check, r.m, r.n);
  vector(check, r.x, r.m, r.incx);
  vector(check, r.y, r.n, r.incy);
  matrix(check, r.a, {r.m, r.n}, r.lda);
  check.number(r.alpha);
}

// Of rank 1 or 2, full or packed.
template <class R>
void check_symmetric(const R& r, checker& check) {
  check.positive(r.n);
  known(check, r.uplo);
  vector(check, r.x, r.n, r.incx);
  if constexpr (requires { r.y; }) vector(check, r.y, r.n, r.incy);
  if constexpr (requires { r.lda; })
    matrix(check, r.a, {r.n, r.n}, r.lda);
  else
    packed(check, r.a, r.n);
  check.number(r.alpha);
}

}  // namespace

TROUPE_CHECKED_BY(check_general, ger, geru, gerc)
TROUPE_CHECKED_BY(check_symmetric, syr, her, spr, hpr, syr2, her2, spr2, hpr2)

}  // namespace troupe::blas

TROUPE_CHECKS(troupe::blas::all_updates)
