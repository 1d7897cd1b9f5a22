// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/internal/checks.hpp>
#include <troupe/blas/level3.hpp>

namespace troupe::blas {
namespace {

// The extent of the square matrix on one side of an m by n matrix.
extent order(side s, extent m, extent n) { return s == side::left ? m : n; }

template <class R>
void check_product(const R& r, checker& check) {
  positive(check, r.m, r.n);
  known(check, r.side);
  known(check, r.uplo);
  const extent square = order(r.side, r.m, r.n);
  matrix(check, r.a, {square, square}, r.lda);
  matrix(check, r.b, {r.m, r.n}, r.ldb);
  matrix(check, r.c, {r.m, r.n}, r.ldc);
  check.number(r.alpha);
  check.number(r.beta);
  if (r.beta.is(0)) check.overwrites(r.c);
}

// C is n by n, of which one triangle is touched: what lies in the other stays as it is, also when beta is 0.
template <class R>
void check_update(const R& r, checker& check) {
  positive(check, r.n, r.k);
  known(check, r.uplo);
  known(check, r.trans);
  const shape s = stored(r.trans, r.n, r.k);
  matrix(check, r.a, s, r.lda);
  if constexpr (requires { r.b; }) matrix(check, r.b, s, r.ldb);
  matrix(check, r.c, {r.n, r.n}, r.ldc);
  check.number(r.alpha);
  check.number(r.beta);
}

template <class R>
void check_symmetric_update(const R& r, checker& check) {
  if (is_complex<std::remove_pointer_t<decltype(r.c.data())>>)
    check.require(r.trans != op::conjugate_transpose, r.trans, "is conjugate_transpose",
                  "none or transpose: the result is symmetric");
  check_update(r, check);
}

template <class R>
void check_hermitian_update(const R& r, checker& check) {
  check.require(r.trans != op::transpose, r.trans, "is transpose",
                "none or conjugate_transpose: the result is Hermitian");
  check_update(r, check);
}

template <class R>
void check_triangular(const R& r, checker& check) {
  positive(check, r.m, r.n);
  known(check, r.side);
  known(check, r.uplo);
  known(check, r.trans);
  known(check, r.diag);
  const extent square = order(r.side, r.m, r.n);
  matrix(check, r.a, {square, square}, r.lda);
  matrix(check, r.b, {r.m, r.n}, r.ldb);
  check.number(r.alpha);
}

}  // namespace

TROUPE_CHECKED_BY(check_product, symm, hemm)
TROUPE_CHECKED_BY(check_symmetric_update, syrk, syr2k, syrkx)
TROUPE_CHECKED_BY(check_hermitian_update, herk, her2k, herkx)

template <class T>
void trmm<T>::check(checker& check) const {
  check_triangular(*this, check);
  matrix(check, c, {m, n}, ldc);
  in_place(check, b, or_tight(ldb, m), c, or_tight(ldc, m));
}

TROUPE_CHECKED_BY(check_triangular, trsm)

}  // namespace troupe::blas

TROUPE_CHECKS(troupe::blas::all_level3)
