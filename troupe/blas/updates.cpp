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

template <class T>
void ger<T>::check(checker& check) const {
  check_general(*this, check);
}
template <class T>
void geru<T>::check(checker& check) const {
  check_general(*this, check);
}
template <class T>
void gerc<T>::check(checker& check) const {
  check_general(*this, check);
}
template <class T>
void syr<T>::check(checker& check) const {
  check_symmetric(*this, check);
}
template <class T>
void her<T>::check(checker& check) const {
  check_symmetric(*this, check);
}
template <class T>
void spr<T>::check(checker& check) const {
  check_symmetric(*this, check);
}
template <class T>
void hpr<T>::check(checker& check) const {
  check_symmetric(*this, check);
}
template <class T>
void syr2<T>::check(checker& check) const {
  check_symmetric(*this, check);
}
template <class T>
void her2<T>::check(checker& check) const {
  check_symmetric(*this, check);
}
template <class T>
void spr2<T>::check(checker& check) const {
  check_symmetric(*this, check);
}
template <class T>
void hpr2<T>::check(checker& check) const {
  check_symmetric(*this, check);
}

TROUPE_BLAS_REAL(ger)
TROUPE_BLAS_COMPLEX(geru)
TROUPE_BLAS_COMPLEX(gerc)
TROUPE_BLAS_FULL(syr)
TROUPE_BLAS_COMPLEX(her)
TROUPE_BLAS_REAL(spr)
TROUPE_BLAS_COMPLEX(hpr)
TROUPE_BLAS_FULL(syr2)
TROUPE_BLAS_COMPLEX(her2)
TROUPE_BLAS_REAL(spr2)
TROUPE_BLAS_COMPLEX(hpr2)

}  // namespace troupe::blas
