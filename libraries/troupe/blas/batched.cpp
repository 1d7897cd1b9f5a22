// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/batched.hpp>
#include <troupe/blas/internal/checks.hpp>

namespace troupe::blas {
namespace {

template <class T, access_mode M>
void vectors(checker& check, const list<operand<T, M>>& all, extent n, const extent& inc) {
  for (const auto& x : all) vector(check, x, n, inc);
}

// Checks a vector as a matrix with one row, whose columns are one increment apart.
template <class T, access_mode M>
void vectors(checker& check, const operand<T, M>& x, extent n, const extent& inc, const extent& batch,
             const extent& stride) {
  check.require(inc != extent(0), inc, "is 0", "a nonzero increment: 1 for adjacent elements");
  const extent apart = step(inc) < 0 ? extent(0) - step(inc) : step(inc);
  matrices(check, x, {1, n}, apart, batch, stride);
}

}  // namespace

template <class T>
void gemv_batched<T>::check(checker& check) const {
  positive(check, m, n);
  equally_long(check, a, x, y);
  holds_matrix(check, a, {m, n}, lda);
  const bool transposed = trans != op::none;
  vectors(check, x, transposed ? m : n, incx);
  vectors(check, y, transposed ? n : m, incy);
  check.number(alpha);
  check.number(beta);
  if (beta.is(0))
    for (const auto& one : y) check.overwrites(one);
}

template <class T>
void gemv_strided_batched<T>::check(checker& check) const {
  positive(check, m, n, batch);
  matrices(check, a, {m, n}, check.leading(lda, m), batch, stride_a);
  const bool transposed = trans != op::none;
  vectors(check, x, transposed ? m : n, incx, batch, stride_x);
  vectors(check, y, transposed ? n : m, incy, batch, stride_y);
  factors(check, *this, y);
}

template <class T>
void trsm_batched<T>::check(checker& check) const {
  positive(check, m, n);
  equally_long(check, a, b);
  const extent order = side == blas::side::left ? m : n;
  holds_matrix(check, a, {order, order}, lda);
  holds_matrix(check, b, {m, n}, ldb);
  check.number(alpha);
}

}  // namespace troupe::blas

TROUPE_CHECKS(troupe::blas::all_batches)
