// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/blas/factorizations.hpp>
#include <troupe/blas/internal/checks.hpp>

namespace troupe::blas {

template <class T>
void getrf_batched<T>::check(checker& check) const {
  check.positive(n);
  equally_long(check, a);
  holds_matrix(check, a, {n, n}, lda);
  result_to(check, pivots, n * a.size());
  check.elements(info, a.size());
}

template <class T>
void getrs_batched<T>::check(checker& check) const {
  positive(check, n, nrhs);
  equally_long(check, a, b);
  holds_matrix(check, a, {n, n}, lda);
  if (pivots) check.elements(*pivots, n * a.size());
  holds_matrix(check, b, {n, nrhs}, ldb);
}

template <class T>
void getri_batched<T>::check(checker& check) const {
  check.positive(n);
  equally_long(check, a, c);
  holds_matrix(check, a, {n, n}, lda);
  if (pivots) check.elements(*pivots, n * a.size());
  holds_matrix(check, c, {n, n}, ldc);
  check.elements(info, a.size());
}

template <class T>
void matinv_batched<T>::check(checker& check) const {
  check.positive(n);
  equally_long(check, a, c);
  holds_matrix(check, a, {n, n}, lda);
  holds_matrix(check, c, {n, n}, ldc);
  check.elements(info, a.size());
}

template <class T>
void geqrf_batched<T>::check(checker& check) const {
  positive(check, m, n);
  equally_long(check, a, tau);
  holds_matrix(check, a, {m, n}, lda);
  for (const auto& one : tau) check.elements(one, std::min(m, n));
}

template <class T>
void gels_batched<T>::check(checker& check) const {
  positive(check, m, n, nrhs);
  check.at_least(m, n);
  equally_long(check, a, c);
  holds_matrix(check, a, {m, n}, lda);
  holds_matrix(check, c, {m, nrhs}, ldc);
  check.elements(info, a.size());
}

}  // namespace troupe::blas

TROUPE_CHECKS(troupe::blas::all_factorizations)
