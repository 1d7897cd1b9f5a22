// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/internal/checks.hpp>
#include <troupe/blas/triangular.hpp>

namespace troupe::blas {
namespace {

template <class R>
void check_options(const R& r, checker& check) {
  check.positive(r.n);
  known(check, r.uplo);
  known(check, r.trans);
  known(check, r.diag);
}

template <class R>
void check_full(const R& r, checker& check) {
  check_options(r, check);
  matrix(check, r.a, {r.n, r.n}, r.lda);
  vector(check, r.x, r.n, r.incx);
}

template <class R>
void check_band(const R& r, checker& check) {
  check_options(r, check);
  check.at_least(r.k, 0);
  matrix(check, r.a, {r.k + 1, r.n}, r.lda);
  vector(check, r.x, r.n, r.incx);
}

template <class R>
void check_packed(const R& r, checker& check) {
  check_options(r, check);
  packed(check, r.a, r.n);
  vector(check, r.x, r.n, r.incx);
}

}  // namespace

TROUPE_CHECKED_BY(check_full, trmv, trsv)
TROUPE_CHECKED_BY(check_band, tbmv, tbsv)
TROUPE_CHECKED_BY(check_packed, tpmv, tpsv)

}  // namespace troupe::blas

TROUPE_CHECKS(troupe::blas::all_triangular_vectors)
