// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/extensions.hpp>
#include <troupe/blas/internal/checks.hpp>

namespace troupe::blas {

template <class T>
void geam<T>::check(checker& check) const {
  positive(check, m, n);
  const shape sa = stored(trans_a, m, n), sb = stored(trans_b, m, n);
  holds_matrix(check, a, sa, lda);
  holds_matrix(check, b, sb, ldb);
  holds_matrix(check, c, {m, n}, ldc);
  check.number(alpha);
  check.number(beta);
  if (trans_a == op::none) in_place(check, a, or_tight(lda, m), c, or_tight(ldc, m));
  if (trans_b == op::none) in_place(check, b, or_tight(ldb, m), c, or_tight(ldc, m));
}

template <class T>
void dgmm<T>::check(checker& check) const {
  positive(check, m, n);
  holds_matrix(check, a, {m, n}, lda);
  vector(check, x, side == blas::side::left ? m : n, incx);
  holds_matrix(check, c, {m, n}, ldc);
  in_place(check, a, or_tight(lda, m), c, or_tight(ldc, m));
}

}  // namespace troupe::blas

TROUPE_CHECKS(troupe::blas::all_extensions)
