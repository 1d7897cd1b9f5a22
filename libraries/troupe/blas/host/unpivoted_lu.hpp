// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <troupe/blas/host/support.hpp>

/// LU factorization without pivoting, which LAPACK does not have.
namespace troupe::blas {

template <class T>
T one_over(T v) noexcept {
  if constexpr (is_real<T>) {
    return 1 / v;
  } else {  // Smith's method, which never squares an unscaled number
    using real = real_of<T>;
    const bool wide = std::abs(v.real) >= std::abs(v.imag);
    const real ratio = wide ? v.imag / v.real : v.real / v.imag,
               by = wide ? v.real + v.imag * ratio : v.real * ratio + v.imag;
    return wide ? T(1 / by, -ratio / by) : T(ratio / by, -1 / by);
  }
}

// x = x / by. If 1 / by overflows or underflows, both are first scaled by a power of two.
template <class T>
void divide(T* x, std::int64_t n, T by) noexcept {
  using real = real_of<T>;
  constexpr real step = real(1ull << 63), least = std::numeric_limits<real>::min(), largest = real(0.125) / least;
  const real size = magnitude(by), move = size < least ? step : size > largest ? 1 / step : 1;
  const T factor = one_over(product(move, by));
  if (move != 1)
    for (std::int64_t i = 0; i < n; ++i) x[i] = product(move, x[i]);
  for (std::int64_t i = 0; i < n; ++i) x[i] = product(x[i], factor);
}

// A = L * U without pivoting, by blocks of columns. Returns LAPACK's info.
template <class T>
blasint factor_unpivoted(T* a, std::int64_t n, std::int64_t lda) {
  constexpr std::int64_t block = 32;
  blasint info = 0;
  const T one = T(1), minus_one = T(-1);
  for (std::int64_t j0 = 0; j0 < n; j0 += block) {
    const std::int64_t width = std::min(block, n - j0), j1 = j0 + width;
    for (std::int64_t j = j0; j < j1; ++j) {
      const T pivot = a[j + j * lda];
      if (pivot == T(0)) {
        if (info == 0) info = static_cast<blasint>(j + 1);
        continue;  // as in LAPACK, the column does not change
      }
      divide(a + j + 1 + j * lda, n - j - 1, pivot);
      for (std::int64_t l = j + 1; l < j1; ++l) {
        const T top = a[j + l * lda];
        for (std::int64_t i = j + 1; i < n; ++i)
          a[i + l * lda] = difference(a[i + l * lda], product(a[i + j * lda], top));
      }
    }
    if (j1 == n) break;
    T *const right = a + j0 + j1 * lda, *const below = a + j1 + j0 * lda;
    const blasint rest = narrow(n - j1);
    TROUPE_CBLAS(trsm)(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, narrow(width), rest,
                       cblas_scalar(one), a + j0 * (lda + 1), narrow(lda), right, narrow(lda));
    TROUPE_CBLAS(gemm)(CblasColMajor, CblasNoTrans, CblasNoTrans, rest, rest, narrow(width), cblas_scalar(minus_one),
                       below, narrow(lda), right, narrow(lda), cblas_scalar(one), a + j1 * (lda + 1), narrow(lda));
  }
  return info;
}

}  // namespace troupe::blas
