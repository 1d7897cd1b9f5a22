// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/triangular.hpp>

#include "engine.hpp"

namespace troupe::blas {

template <class T, class R, class F>
static result<void> full(const R& r, job& j, const routine<F>& routine) {
  return j(routine, code(r.uplo), code<T>(r.trans), code(r.diag), r.n.value(), r.a.data(), or_tight(r.lda, r.n).value(),
           r.x.data(), step(r.incx));
}
template <class T>
static result<void> enqueue(const trmv<T>& r, job& j) {
  return full<T>(r, j, routines<T>::trmv);
}
template <class T>
static result<void> enqueue(const trsv<T>& r, job& j) {
  return full<T>(r, j, routines<T>::trsv);
}

// Diagonals that lie outside the matrix are left out.
template <class T, class R, class F>
static result<void> band(const R& r, job& j, const routine<F>& routine) {
  const extent k = std::min(r.k, r.n - 1), lda = or_tight(r.lda, r.k + 1);
  const T* const a = r.a.data() + (r.uplo == triangle::upper ? (r.k - k).value() : 0);
  return j(routine, code(r.uplo), code<T>(r.trans), code(r.diag), r.n.value(), k.value(), a, lda.value(), r.x.data(),
           step(r.incx));
}
template <class T>
static result<void> enqueue(const tbmv<T>& r, job& j) {
  return band<T>(r, j, routines<T>::tbmv);
}
template <class T>
static result<void> enqueue(const tbsv<T>& r, job& j) {
  return band<T>(r, j, routines<T>::tbsv);
}

template <class T, class R, class F>
static result<void> packed(const R& r, job& j, const routine<F>& routine) {
  return j(routine, code(r.uplo), code<T>(r.trans), code(r.diag), r.n.value(), r.a.data(), r.x.data(), step(r.incx));
}
template <class T>
static result<void> enqueue(const tpmv<T>& r, job& j) {
  return packed<T>(r, j, routines<T>::tpmv);
}
template <class T>
static result<void> enqueue(const tpsv<T>& r, job& j) {
  return packed<T>(r, j, routines<T>::tpsv);
}

operations triangular_operations() noexcept {
  return operations_of<cublas, trmv<float>, trmv<double>, trmv<complex64>, trmv<complex128>, trsv<float>, trsv<double>,
                       trsv<complex64>, trsv<complex128>, tbmv<float>, tbmv<double>, tbmv<complex64>, tbmv<complex128>,
                       tbsv<float>, tbsv<double>, tbsv<complex64>, tbsv<complex128>, tpmv<float>, tpmv<double>,
                       tpmv<complex64>, tpmv<complex128>, tpsv<float>, tpsv<double>, tpsv<complex64>,
                       tpsv<complex128>>();
}

}  // namespace troupe::blas
