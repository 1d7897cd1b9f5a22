// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/cuda/engine.hpp>
#include <troupe/blas/level2/triangular.hpp>

namespace troupe::blas {

template <class T, class R, class F>
static result<void> full(const R& r, job& j, const routine<F>& routine) {
  return j(routine, code(r.uplo), code<T>(r.trans), code(r.diag), r.n.value(), r.a.data(), or_tight(r.lda, r.n).value(),
           r.x.data(), step(r.incx));
}
TROUPE_ENQUEUED_BY(full, TROUPE_CUBLAS, trmv, trsv)

// Diagonals that are outside of the matrix are not passed to cuBLAS.
template <class T, class R, class F>
static result<void> band(const R& r, job& j, const routine<F>& routine) {
  const extent k = std::min(r.k, r.n - 1), lda = or_tight(r.lda, r.k + 1);
  const T* const a = r.a.data() + (r.uplo == triangle::upper ? (r.k - k).value() : 0);
  return j(routine, code(r.uplo), code<T>(r.trans), code(r.diag), r.n.value(), k.value(), a, lda.value(), r.x.data(),
           step(r.incx));
}
TROUPE_ENQUEUED_BY(band, TROUPE_CUBLAS, tbmv, tbsv)

template <class T, class R, class F>
static result<void> packed(const R& r, job& j, const routine<F>& routine) {
  return j(routine, code(r.uplo), code<T>(r.trans), code(r.diag), r.n.value(), r.a.data(), r.x.data(), step(r.incx));
}
TROUPE_ENQUEUED_BY(packed, TROUPE_CUBLAS, tpmv, tpsv)

operations triangular_operations() noexcept { return operations_of<cublas, all_triangular_vectors>(); }

}  // namespace troupe::blas
