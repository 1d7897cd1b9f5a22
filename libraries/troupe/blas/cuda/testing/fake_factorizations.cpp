// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Batches of factorizations, by the unblocked algorithms of LAPACK.
#include <numeric>
#include <troupe/blas/cuda/testing/fake_handle.hpp>

using namespace troupe::blas::testing;

namespace {

template <class E>
auto size_of(E v) {
  return std::abs(std::real(v)) + std::abs(std::imag(v));
}

// Factors a matrix. Returns the number of the first pivot that is 0. If `pivots` is null, no rows are swapped.
template <class E>
int factor_lu(int n, E* a, int lda, int* pivots) {
  int info = 0;
  for (int j = 0; j < n; ++j) {
    int best = j;
    for (int i = j + 1; pivots != nullptr && i < n; ++i)
      if (size_of(a[i + j * lda]) > size_of(a[best + j * lda])) best = i;
    if (pivots != nullptr) pivots[j] = best + 1;
    for (int l = 0; best != j && l < n; ++l) std::swap(a[j + l * lda], a[best + l * lda]);
    if (a[j + j * lda] == E(0)) {
      if (info == 0) info = j + 1;
      continue;
    }
    for (int i = j + 1; i < n; ++i) {
      a[i + j * lda] /= a[j + j * lda];
      for (int l = j + 1; l < n; ++l) a[i + l * lda] -= times(a[i + j * lda], a[j + l * lda]);
    }
  }
  return info;
}
template <class E>
void solve_lu(cublasOperation_t o, int n, int columns, const E* a, int lda, const int* pivots, E* b, int ldb) {
  const auto exchange = [&](int i) {
    if (pivots == nullptr) return;
    if (pivots[i] < i + 1 || pivots[i] > n) wrong("a pivot is not a row of its matrix");
    for (int j = 0; j < columns; ++j) std::swap(b[i + j * ldb], b[pivots[i] - 1 + j * ldb]);
  };
  const auto lower = apply_op(o, triangular(full(a, lda), true, true)),
             upper = apply_op(o, triangular(full(a, lda), false, false));
  const auto each = [&](auto&& matrix, bool is_lower_now, bool unit) {
    for (int j = 0; j < columns; ++j) solve(n, matrix, is_lower_now, unit, [&](i64 i) -> E& { return b[i + j * ldb]; });
  };
  if (o == CUBLAS_OP_N) {
    for (int i = 0; i < n; ++i) exchange(i);
    each(lower, true, true);
    each(upper, false, false);
  } else {
    each(upper, true, false);
    each(lower, false, true);
    for (int i = n - 1; i >= 0; --i) exchange(i);
  }
}
template <class E>
int invert_lu(int n, const E* a, int lda, const int* pivots, E* c, int ldc) {
  for (int i = 0; i < n; ++i)
    if (a[i + i * lda] == E(0)) return i + 1;
  for (int j = 0; j < n; ++j)
    for (int i = 0; i < n; ++i) c[i + j * ldc] = E(i == j ? 1 : 0);
  solve_lu(CUBLAS_OP_N, n, n, a, lda, pivots, c, ldc);
  return 0;
}

// Applies reflector i to columns [from, to) of c; `tau` may be conjugated.
template <class E>
void reflect(int m, int i, const E* a, int lda, E tau, E* c, int ldc, int from, int to) {
  for (int l = from; l < to; ++l) {
    E sum = c[i + l * ldc];
    for (int r = i + 1; r < m; ++r) sum += times(conjugated(a[r + i * lda]), c[r + l * ldc]);
    sum = times(sum, tau);
    c[i + l * ldc] -= sum;
    for (int r = i + 1; r < m; ++r) c[r + l * ldc] -= times(a[r + i * lda], sum);
  }
}
template <class E>
void factor_qr(int m, int n, E* a, int lda, E* tau) {
  for (int i = 0; i < std::min(m, n); ++i) {
    E& diagonal = a[i + i * lda];
    using wide = std::complex<long double>;  // whose squares cannot overflow
    long double below = 0;
    for (int r = i + 1; r < m; ++r) below += std::norm(wide(a[r + i * lda]));
    tau[i] = E(0);
    if (below != 0 || std::imag(diagonal) != 0) {
      using R = decltype(std::real(diagonal));
      const long double length = std::sqrt(below + std::norm(wide(diagonal)));
      const E beta(static_cast<R>(std::real(diagonal) > 0 ? -length : length));
      tau[i] = (beta - diagonal) / beta;
      const E by = E(1) / (diagonal - beta);
      for (int r = i + 1; r < m; ++r) a[r + i * lda] = times(a[r + i * lda], by);
      diagonal = beta;
    }
    reflect(m, i, a, lda, conjugated(tau[i]), a, lda, i + 1, n);
  }
}
template <class E>
int least_squares(int m, int n, int columns, E* a, int lda, E* c, int ldc) {
  std::vector<E> tau(static_cast<std::size_t>(n));
  factor_qr(m, n, a, lda, tau.data());
  for (int i = 0; i < n; ++i) reflect(m, i, a, lda, conjugated(tau[static_cast<std::size_t>(i)]), c, ldc, 0, columns);
  for (int i = 0; i < n; ++i)
    if (a[i + i * lda] == E(0)) return i + 1;
  for (int j = 0; j < columns; ++j)
    solve(n, triangular(full(static_cast<const E*>(a), lda), false, false), false, false,
          [&](i64 i) -> E& { return c[i + j * ldc]; });
  return 0;
}

}  // namespace

#define FAKE(NAME, ...) cublasStatus_t NAME(cublasHandle_t, __VA_ARGS__)
#define EACH(...)                              \
  for (int i = 0; i < count; ++i) __VA_ARGS__; \
  return CUBLAS_STATUS_SUCCESS;
#define PIVOTS (pivots == nullptr ? nullptr : pivots + i * n)

#define FAKE_FACTORIZATIONS(P, V)                                                                                      \
  FAKE(cublas##P##getrfBatched, int n, V* const* a, int lda, int* pivots, int* info, int count){                       \
      EACH(info[i] = factor_lu(n, list(a)[i], lda, PIVOTS))} FAKE(cublas##P##getrsBatched, cublasOperation_t o, int n, \
                                                                  int columns, const V* const* a, int lda,             \
                                                                  const int* pivots, V* const* b, int ldb, int* info,  \
                                                                  int count) {                                         \
    *info = 0;                                                                                                         \
    EACH(solve_lu(o, n, columns, list(a)[i], lda, PIVOTS, list(b)[i], ldb))                                            \
  }                                                                                                                    \
  FAKE(cublas##P##getriBatched, int n, const V* const* a, int lda, const int* pivots, V* const* c, int ldc, int* info, \
       int count){EACH(info[i] = invert_lu(n, list(a)[i], lda, PIVOTS, list(c)[i],                                     \
                                           ldc))} FAKE(cublas##P##matinvBatched, int n, const V* const* a, int lda,    \
                                                       V* const* c, int ldc, int* info, int count) {                   \
    if (n > 32) return CUBLAS_STATUS_INVALID_VALUE;                                                                    \
    std::vector<element_type<V>::type> copy(static_cast<std::size_t>(n) * static_cast<std::size_t>(n));                \
    std::vector<int> pivots(static_cast<std::size_t>(n));                                                              \
    for (int i = 0; i < count; ++i) {                                                                                  \
      for (int j = 0; j < n; ++j) std::copy_n(list(a)[i] + j * lda, n, copy.data() + j * n);                           \
      info[i] = factor_lu(n, copy.data(), n, pivots.data());                                                           \
      if (info[i] == 0) (void)invert_lu(n, copy.data(), n, pivots.data(), list(c)[i], ldc);                            \
    }                                                                                                                  \
    return CUBLAS_STATUS_SUCCESS;                                                                                      \
  }                                                                                                                    \
  FAKE(cublas##P##geqrfBatched, int m, int n, V* const* a, int lda, V* const* tau, int* info, int count) {             \
    *info = 0;                                                                                                         \
    EACH(factor_qr(m, n, list(a)[i], lda, list(tau)[i]))                                                               \
  }                                                                                                                    \
  FAKE(cublas##P##gelsBatched, cublasOperation_t o, int m, int n, int columns, V* const* a, int lda, V* const* c,      \
       int ldc, int* info, int* infos, int count) {                                                                    \
    if (o != CUBLAS_OP_N || m < n) return CUBLAS_STATUS_NOT_SUPPORTED;                                                 \
    *info = 0;                                                                                                         \
    EACH(infos[i] = least_squares(m, n, columns, list(a)[i], lda, list(c)[i], ldc))                                    \
  }

FAKE_FACTORIZATIONS(S, float)
FAKE_FACTORIZATIONS(D, double)
FAKE_FACTORIZATIONS(C, cuComplex)
FAKE_FACTORIZATIONS(Z, cuDoubleComplex)
