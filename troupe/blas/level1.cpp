// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/internal/checks.hpp>
#include <troupe/blas/level1.hpp>

namespace troupe::blas {

template <class T>
void axpy<T>::check(checker& check) const {
  check.positive(n);
  vector(check, x, n, incx);
  vector(check, y, n, incy);
  check.number(alpha);
}

template <class T, class F>
void scal<T, F>::check(checker& check) const {
  check.positive(n);
  vector(check, x, n, incx);
  check.number(alpha);
}

template <class T>
void copy<T>::check(checker& check) const {
  check.positive(n);
  vector(check, x, n, incx);
  vector(check, y, n, incy);
}

template <class T>
void swap<T>::check(checker& check) const {
  check.positive(n);
  vector(check, x, n, incx);
  vector(check, y, n, incy);
}

namespace {

template <class R>
void check_inner_product(const R& r, checker& check) {
  check.positive(r.n);
  vector(check, r.x, r.n, r.incx);
  vector(check, r.y, r.n, r.incy);
  result_to(check, r.result);
}

template <class R>
void check_reduction(const R& r, checker& check) {
  check.positive(r.n);
  vector(check, r.x, r.n, r.incx);
  result_to(check, r.result);
}

}  // namespace

template <class T>
void dot<T>::check(checker& check) const {
  check_inner_product(*this, check);
}
template <class T>
void dotu<T>::check(checker& check) const {
  check_inner_product(*this, check);
}
template <class T>
void dotc<T>::check(checker& check) const {
  check_inner_product(*this, check);
}
template <class T>
void nrm2<T>::check(checker& check) const {
  check_reduction(*this, check);
}
template <class T>
void asum<T>::check(checker& check) const {
  check_reduction(*this, check);
}
template <class T>
void iamax<T>::check(checker& check) const {
  check_reduction(*this, check);
}
template <class T>
void iamin<T>::check(checker& check) const {
  check_reduction(*this, check);
}

TROUPE_BLAS_FULL(axpy)
TROUPE_BLAS_FULL(scal)
template struct scal<complex64, float>;
template struct scal<complex128, double>;
TROUPE_BLAS_FULL(copy)
TROUPE_BLAS_FULL(swap)
TROUPE_BLAS_REAL(dot)
TROUPE_BLAS_COMPLEX(dotu)
TROUPE_BLAS_COMPLEX(dotc)
TROUPE_BLAS_FULL(nrm2)
TROUPE_BLAS_FULL(asum)
TROUPE_BLAS_FULL(iamax)
TROUPE_BLAS_FULL(iamin)

}  // namespace troupe::blas
