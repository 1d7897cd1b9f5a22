// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/requests.hpp>
#include <troupe/request/checker.hpp>
#include <utility>

namespace troupe::blas {
namespace {

constexpr extent one = 1;

// A reference, because the checker finds a field's name by where the field is.
const extent& step(const extent& inc) noexcept { return inc == tight ? one : inc; }

void known(checker& check, const op& o) {
  check.require(is_known(o), o, "is not an op", "none, transpose or conjugate_transpose");
}

// op(X) is `rows` by `columns`; X lies transposed in memory when `o` says so.
template <class T, access_mode M>
void stored(checker& check, const operand<T, M>& x, op o, extent rows, extent columns, const extent& ld) {
  if (o != op::none) std::swap(rows, columns);
  check.matrix(x, rows, columns, check.leading(ld, rows));
}

}  // namespace

template <class T>
void gemm<T>::check(checker& check) const {
  check.positive(m);
  check.positive(n);
  check.positive(k);
  known(check, trans_a);
  known(check, trans_b);
  stored(check, a, trans_a, m, k, lda);
  stored(check, b, trans_b, k, n, ldb);
  stored(check, c, op::none, m, n, ldc);
  if (beta == 0) check.overwrites(c);
}

template <class T>
void gemv<T>::check(checker& check) const {
  check.positive(m);
  check.positive(n);
  known(check, trans);
  check.matrix(a, m, n, check.leading(lda, m));
  const bool turned = trans != op::none;
  check.vector(x, turned ? m : n, step(incx));
  check.vector(y, turned ? n : m, step(incy));
  if (beta == 0) check.overwrites(y);
}

template <class T>
void axpy<T>::check(checker& check) const {
  check.positive(n);
  check.vector(x, n, step(incx));
  check.vector(y, n, step(incy));
}

template <class T>
void scal<T>::check(checker& check) const {
  check.positive(n);
  check.vector(x, n, step(incx));
}

template <class T>
void dot<T>::check(checker& check) const {
  check.positive(n);
  check.vector(x, n, step(incx));
  check.vector(y, n, step(incy));
}

template struct gemm<float>;
template struct gemm<double>;
template struct gemv<float>;
template struct gemv<double>;
template struct axpy<float>;
template struct axpy<double>;
template struct scal<float>;
template struct scal<double>;
template struct dot<float>;
template struct dot<double>;

}  // namespace troupe::blas
