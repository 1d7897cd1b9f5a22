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

template <class T>
void trmv<T>::check(checker& check) const {
  check_full(*this, check);
}
template <class T>
void trsv<T>::check(checker& check) const {
  check_full(*this, check);
}
template <class T>
void tbmv<T>::check(checker& check) const {
  check_band(*this, check);
}
template <class T>
void tbsv<T>::check(checker& check) const {
  check_band(*this, check);
}
template <class T>
void tpmv<T>::check(checker& check) const {
  check_packed(*this, check);
}
template <class T>
void tpsv<T>::check(checker& check) const {
  check_packed(*this, check);
}

TROUPE_BLAS_FULL(trmv)
TROUPE_BLAS_FULL(trsv)
TROUPE_BLAS_FULL(tbmv)
TROUPE_BLAS_FULL(tbsv)
TROUPE_BLAS_FULL(tpmv)
TROUPE_BLAS_FULL(tpsv)

}  // namespace troupe::blas
