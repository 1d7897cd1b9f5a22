// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/triangular.hpp>

#include "engine.hpp"

namespace troupe::blas {

template <class R, class Routine>
static result<void> full(const R& r, Routine routine) {
  TROUPE_TRY(fits(r, r.n, 0));
  routine(CblasColMajor, code(r.uplo), code(r.trans), code(r.diag), narrow(r.n), r.a.data(),
          narrow(or_tight(r.lda, r.n)), r.x.data(), narrow(step(r.incx)));
  return {};
}
template <class T>
static result<void> compute(const trmv<T>& r) {
  return full(r, routines<T>::trmv);
}
template <class T>
static result<void> compute(const trsv<T>& r) {
  return full(r, routines<T>::trsv);
}

// Diagonals that lie outside the matrix are left out: OpenBLAS need not know of them.
template <class R, class Routine>
static result<void> band(const R& r, Routine routine) {
  TROUPE_TRY(fits(r, r.n, 0));
  const extent k = std::min(r.k, r.n - 1), lda = or_tight(r.lda, r.k + 1);
  TROUPE_TRY(leading_fits(r, r.lda, lda));
  const auto* const a = r.a.data() + (r.uplo == triangle::upper ? (r.k - k).value() : 0);
  routine(CblasColMajor, code(r.uplo), code(r.trans), code(r.diag), narrow(r.n), narrow(k), a, narrow(lda), r.x.data(),
          narrow(step(r.incx)));
  return {};
}
template <class T>
static result<void> compute(const tbmv<T>& r) {
  return band(r, routines<T>::tbmv);
}
template <class T>
static result<void> compute(const tbsv<T>& r) {
  return band(r, routines<T>::tbsv);
}

template <class R, class Routine>
static result<void> packed(const R& r, Routine routine) {
  TROUPE_TRY(fits(r, r.n, 0));
  routine(CblasColMajor, code(r.uplo), code(r.trans), code(r.diag), narrow(r.n), r.a.data(), r.x.data(),
          narrow(step(r.incx)));
  return {};
}
template <class T>
static result<void> compute(const tpmv<T>& r) {
  return packed(r, routines<T>::tpmv);
}
template <class T>
static result<void> compute(const tpsv<T>& r) {
  return packed(r, routines<T>::tpsv);
}

operations triangular_operations() noexcept {
  return operations_of<openblas, trmv<float>, trmv<double>, trmv<complex64>, trmv<complex128>, trsv<float>,
                       trsv<double>, trsv<complex64>, trsv<complex128>, tbmv<float>, tbmv<double>, tbmv<complex64>,
                       tbmv<complex128>, tbsv<float>, tbsv<double>, tbsv<complex64>, tbsv<complex128>, tpmv<float>,
                       tpmv<double>, tpmv<complex64>, tpmv<complex128>, tpsv<float>, tpsv<double>, tpsv<complex64>,
                       tpsv<complex128>>();
}

}  // namespace troupe::blas
