// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/extensions.hpp>
#include <troupe/blas/level3.hpp>
#include <troupe/blas/views.hpp>

/// The operations on views as operations of BLAS, for its column-major matrices. For engines, and for valid requests.
namespace troupe::blas {

/// A view as BLAS sees it: op(X), where X is stored column by column.
struct stored_view {
  op trans = op::none;
  extent ld = 1;
};
/// Returns true if BLAS can take the matrix as it is, or transposed.
inline bool has_columns(const matrix_shape& s) noexcept { return s.row_stride == 1 || s.rows == 1; }
inline bool suits_blas(const matrix_shape& s) noexcept { return has_columns(s) || has_columns(s.transposed()); }
inline stored_view stored(const matrix_shape& s) noexcept {
  if (has_columns(s)) return {op::none, s.columns == 1 ? s.rows : s.column_stride};
  return {op::transpose, s.rows == 1 ? s.columns : s.row_stride};
}

inline triangle other(triangle t) noexcept { return t == triangle::lower ? triangle::upper : triangle::lower; }
inline side other(side s) noexcept { return s == side::left ? side::right : side::left; }

/// A result whose rows are stored one after the other is computed as its transpose.
template <class T, class C>
gemm<T, C> as_blas(const multiplication<T, C>& r) {
  matrix_shape a = r.a.shape(), b = r.b.shape(), c = r.c.shape();
  const bool swap = !has_columns(c);
  if (swap) {
    const matrix_shape first = b.transposed();
    b = a.transposed(), a = first, c = c.transposed();
  }
  const stored_view sa = stored(a), sb = stored(b);
  return {.a = swap ? in<T>(r.b) : in<T>(r.a),
          .b = swap ? in<T>(r.a) : in<T>(r.b),
          .c = r.c,
          .m = c.rows,
          .n = c.columns,
          .k = a.columns,
          .trans_a = sa.trans,
          .trans_b = sb.trans,
          .alpha = r.alpha,
          .beta = r.beta,
          .lda = sa.ld,
          .ldb = sb.ld,
          .ldc = stored(c).ld,
          .math = r.math};
}

template <class T>
geam<T> as_blas(const addition<T>& r) {
  const bool swap = !has_columns(r.c.shape());
  const auto oriented = [swap](const matrix_shape& s) { return swap ? s.transposed() : s; };
  const matrix_shape c = oriented(r.c.shape());
  const stored_view sa = stored(oriented(r.a.shape())), sb = stored(oriented(r.b.shape()));
  return {.a = r.a,
          .b = r.b,
          .c = r.c,
          .m = c.rows,
          .n = c.columns,
          .trans_a = sa.trans,
          .trans_b = sb.trans,
          .alpha = r.alpha,
          .beta = r.beta,
          .lda = sa.ld,
          .ldb = sb.ld,
          .ldc = stored(c).ld};
}

template <class T>
trsm<T> as_blas(const triangular_solution<T>& r) {
  const bool swap = !has_columns(r.b.shape());
  const matrix_shape a = swap ? r.a.shape().transposed() : r.a.shape(),
                     b = swap ? r.b.shape().transposed() : r.b.shape();
  const stored_view sa = stored(a);
  // Each transposition makes the lower triangle the upper one: of the whole equation, and of A in memory.
  const bool flipped = swap != (sa.trans == op::transpose);
  return {.a = r.a,
          .b = r.b,
          .m = b.rows,
          .n = b.columns,
          .side = swap ? other(r.side) : r.side,
          .uplo = flipped ? other(r.uplo) : r.uplo,
          .trans = sa.trans,
          .diag = r.diag,
          .alpha = r.alpha,
          .lda = sa.ld,
          .ldb = stored(b).ld};
}

}  // namespace troupe::blas
