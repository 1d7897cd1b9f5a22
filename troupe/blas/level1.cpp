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

TROUPE_CHECKED_BY(check_inner_product, dot, dotu, dotc)
TROUPE_CHECKED_BY(check_reduction, nrm2, asum, iamax, iamin)

}  // namespace troupe::blas

TROUPE_CHECKS(troupe::blas::all_level1)
