// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/host/engine.hpp>
#include <troupe/blas/level2/triangular.hpp>

namespace troupe::blas {

template <class T, class R, class Routine>
static result<void> full(const R& r, Routine routine) {
  TROUPE_TRY(fits(r, r.n, 0));
  routine(CblasColMajor, code(r.uplo), code(r.trans), code(r.diag), narrow(r.n), r.a.data(),
          narrow(or_tight(r.lda, r.n)), r.x.data(), narrow(step(r.incx)));
  return {};
}
TROUPE_COMPUTED_BY(full, TROUPE_CBLAS, trmv, trsv)

// Diagonals that are outside of the matrix are not passed to OpenBLAS.
template <class T, class R, class Routine>
static result<void> band(const R& r, Routine routine) {
  TROUPE_TRY(fits(r, r.n, 0));
  const extent k = std::min(r.k, r.n - 1), lda = or_tight(r.lda, r.k + 1);
  TROUPE_TRY(leading_fits(r, r.lda, lda));
  const auto* const a = r.a.data() + (r.uplo == triangle::upper ? (r.k - k).value() : 0);
  routine(CblasColMajor, code(r.uplo), code(r.trans), code(r.diag), narrow(r.n), narrow(k), a, narrow(lda), r.x.data(),
          narrow(step(r.incx)));
  return {};
}
TROUPE_COMPUTED_BY(band, TROUPE_CBLAS, tbmv, tbsv)

template <class T, class R, class Routine>
static result<void> packed(const R& r, Routine routine) {
  TROUPE_TRY(fits(r, r.n, 0));
  routine(CblasColMajor, code(r.uplo), code(r.trans), code(r.diag), narrow(r.n), r.a.data(), r.x.data(),
          narrow(step(r.incx)));
  return {};
}
TROUPE_COMPUTED_BY(packed, TROUPE_CBLAS, tpmv, tpsv)

operations triangular_operations() noexcept { return operations_of<openblas, all_triangular_vectors>(); }

}  // namespace troupe::blas
