// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/internal/checks.hpp>
#include <troupe/blas/level2.hpp>

namespace troupe::blas {
namespace {

// x and y of y = alpha * op(A) * x + beta * y, with x of `nx` elements and y of `ny`.
template <class R>
void check_vectors(const R& r, checker& check, extent nx, extent ny) {
  vector(check, r.x, nx, r.incx);
  vector(check, r.y, ny, r.incy);
  check.number(r.alpha);
  check.number(r.beta);
  if (r.beta.is(0)) check.overwrites(r.y);
}

template <class R>
void check_symmetric(const R& r, checker& check) {
  check.positive(r.n);
  known(check, r.uplo);
  matrix(check, r.a, {r.n, r.n}, r.lda);
  check_vectors(r, check, r.n, r.n);
}

template <class R>
void check_band(const R& r, checker& check) {
  check.positive(r.n);
  check.at_least(r.k, 0);
  known(check, r.uplo);
  matrix(check, r.a, {r.k + 1, r.n}, r.lda);
  check_vectors(r, check, r.n, r.n);
}

template <class R>
void check_packed(const R& r, checker& check) {
  check.positive(r.n);
  known(check, r.uplo);
  packed(check, r.a, r.n);
  check_vectors(r, check, r.n, r.n);
}

}  // namespace

template <class T>
void gemv<T>::check(checker& check) const {
  positive(check, m, n);
  known(check, trans);
  matrix(check, a, {m, n}, lda);
  const bool turned = trans != op::none;
  check_vectors(*this, check, turned ? m : n, turned ? n : m);
}

template <class T>
void gbmv<T>::check(checker& check) const {
  positive(check, m, n);
  check.at_least(kl, 0);
  check.at_least(ku, 0);
  known(check, trans);
  matrix(check, a, {kl + ku + 1, n}, lda);
  const bool turned = trans != op::none;
  check_vectors(*this, check, turned ? m : n, turned ? n : m);
}

TROUPE_CHECKED_BY(check_symmetric, symv, hemv)
TROUPE_CHECKED_BY(check_band, sbmv, hbmv)
TROUPE_CHECKED_BY(check_packed, spmv, hpmv)

}  // namespace troupe::blas

TROUPE_CHECKS(troupe::blas::all_level2)
