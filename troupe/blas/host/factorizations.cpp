// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// LAPACK, once for each matrix of a batch. Its `info` below 0 would be our mistake: requests come checked.
#include <troupe/blas/factorizations.hpp>

#include "batch.hpp"
#include "engine.hpp"

namespace troupe::blas {

static_assert(std::is_same_v<blasint, std::int32_t>, "pivots and info are passed on as they are");

template <class T>
static T one_over(T v) noexcept {
  if constexpr (is_real<T>) {
    return 1 / v;
  } else {  // Smith's way: no part is squared as it is
    using real = real_of<T>;
    const bool wide = std::abs(v.real) >= std::abs(v.imag);
    const real ratio = wide ? v.imag / v.real : v.real / v.imag,
               by = wide ? v.real + v.imag * ratio : v.real * ratio + v.imag;
    return wide ? T(1 / by, -ratio / by) : T(ratio / by, -1 / by);
  }
}

// A = L * U without pivoting, by blocks of columns. Answers LAPACK's info.
template <class T>
static blasint factor_unpivoted(T* a, std::int64_t n, std::int64_t lda) {
  constexpr std::int64_t block = 32;
  blasint info = 0;
  const T one = T(1), minus_one = T(-1);
  for (std::int64_t j0 = 0; j0 < n; j0 += block) {
    const std::int64_t width = std::min(block, n - j0), j1 = j0 + width;
    for (std::int64_t j = j0; j < j1; ++j) {
      const T pivot = a[j + j * lda];
      if (pivot == T(0)) {
        if (info == 0) info = static_cast<blasint>(j + 1);
        continue;  // as LAPACK: the column stays as it is
      }
      const T factor = one_over(pivot);
      for (std::int64_t i = j + 1; i < n; ++i) a[i + j * lda] = product(a[i + j * lda], factor);
      for (std::int64_t l = j + 1; l < j1; ++l) {
        const T top = a[j + l * lda];
        for (std::int64_t i = j + 1; i < n; ++i)
          a[i + l * lda] = difference(a[i + l * lda], product(a[i + j * lda], top));
      }
    }
    if (j1 == n) break;
    T *const right = a + j0 + j1 * lda, *const below = a + j1 + j0 * lda;
    const blasint rest = narrow(n - j1);
    routines<T>::trsm(CblasColMajor, CblasLeft, CblasLower, CblasNoTrans, CblasUnit, narrow(width), rest, by(one),
                      a + j0 * (lda + 1), narrow(lda), right, narrow(lda));
    routines<T>::gemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rest, rest, narrow(width), by(minus_one), below,
                      narrow(lda), right, narrow(lda), by(one), a + j1 * (lda + 1), narrow(lda));
  }
  return info;
}

// The pivots of matrix i.
template <class O>
static auto* pivots_of(const std::optional<O>& pivots, std::size_t i, extent n) {
  return pivots ? pivots->data() + i * static_cast<std::size_t>(n.value()) : nullptr;
}
template <class T>
static void copy_square(const T* from, std::int64_t from_ld, T* to, std::int64_t to_ld, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(from + j * from_ld, n, to + j * to_ld);
}
template <class T>
static blasint lapack_size(T best) noexcept {
  if constexpr (is_real<T>)
    return static_cast<blasint>(best);
  else
    return static_cast<blasint>(best.real);
}

// One call for each matrix; f(index).
template <class R, class F>
static result<void> each(const R& r, workers& all, F&& f) {
  if (auto ok = fits(r); !ok) return ok;
  const double n = static_cast<double>(r.n.value());
  each_of_batch(all, static_cast<std::int64_t>(r.a.size()), n * n * n,
                [&](std::int64_t i) { f(static_cast<std::size_t>(i)); });
  return {};
}

template <class T>
static result<void> compute(const getrf_batched<T>& r, workers& all) {
  const blasint n = narrow(r.n), lda = narrow(or_tight(r.lda, r.n));
  return each(r, all, [&](std::size_t i) {
    if (r.pivots)
      routines<T>::getrf(&n, &n, r.a[i].data(), &lda, pivots_of(r.pivots, i, r.n), r.info.data() + i);
    else
      r.info.data()[i] = factor_unpivoted(r.a[i].data(), n, lda);
  });
}

template <class T>
static result<void> compute(const getrs_batched<T>& r, workers& all) {
  const blasint n = narrow(r.n), nrhs = narrow(r.nrhs), lda = narrow(or_tight(r.lda, r.n)),
                ldb = narrow(or_tight(r.ldb, r.n));
  const char trans = letter(r.trans);
  const T one = T(1);
  return each(r, all, [&](std::size_t i) {
    if (r.pivots) {
      blasint info;
      routines<T>::getrs(&trans, &n, &nrhs, r.a[i].data(), &lda, pivots_of(r.pivots, i, r.n), r.b[i].data(), &ldb,
                         &info, 1);
      return;
    }
    const auto solve = [&](CBLAS_UPLO uplo, CBLAS_DIAG diag) {
      routines<T>::trsm(CblasColMajor, CblasLeft, uplo, code(r.trans), diag, n, nrhs, by(one), r.a[i].data(), lda,
                        r.b[i].data(), ldb);
    };
    if (r.trans == op::none) {
      solve(CblasLower, CblasUnit);
      solve(CblasUpper, CblasNonUnit);
    } else {
      solve(CblasUpper, CblasNonUnit);
      solve(CblasLower, CblasUnit);
    }
  });
}

// The inverse in place of what was factored. Answers LAPACK's info.
template <class T>
static blasint invert(T* a, blasint n, blasint lda, const blasint* pivots) {
  blasint info, query = -1;
  T best;
  routines<T>::getri(&n, a, &lda, pivots, &best, &query, &info);
  const blasint size = std::max(lapack_size(best), n);
  std::vector<T> work(static_cast<std::size_t>(size));
  routines<T>::getri(&n, a, &lda, pivots, work.data(), &size, &info);
  return info;
}

template <class T>
static result<void> compute(const getri_batched<T>& r, workers& all) {
  const std::int64_t n = r.n.value(), lda = or_tight(r.lda, r.n).value(), ldc = or_tight(r.ldc, r.n).value();
  std::vector<blasint> in_place;  // each row stays where it is
  if (!r.pivots)
    for (blasint i = 1; i <= n; ++i) in_place.push_back(i);
  return each(r, all, [&](std::size_t i) {
    copy_square(r.a[i].data(), lda, r.c[i].data(), ldc, n);
    const blasint* const pivots = r.pivots ? pivots_of(r.pivots, i, r.n) : in_place.data();
    r.info.data()[i] = invert(r.c[i].data(), narrow(n), narrow(ldc), pivots);
  });
}

template <class T>
static result<void> compute(const matinv_batched<T>& r, workers& all) {
  const blasint n = narrow(r.n), ldc = narrow(or_tight(r.ldc, r.n));
  return each(r, all, [&](std::size_t i) {
    T* const c = r.c[i].data();
    blasint& info = r.info.data()[i];
    std::vector<blasint> pivots(static_cast<std::size_t>(n));
    copy_square(r.a[i].data(), or_tight(r.lda, r.n).value(), c, ldc, n);
    routines<T>::getrf(&n, &n, c, &ldc, pivots.data(), &info);
    if (info == 0) info = invert(c, n, ldc, pivots.data());
  });
}

template <class T>
static result<void> compute(const geqrf_batched<T>& r, workers& all) {
  const blasint m = narrow(r.m), n = narrow(r.n), lda = narrow(or_tight(r.lda, r.m));
  return each(r, all, [&](std::size_t i) {
    blasint info, query = -1;
    T best;
    routines<T>::geqrf(&m, &n, r.a[i].data(), &lda, r.tau[i].data(), &best, &query, &info);
    const blasint size = std::max(lapack_size(best), n);
    std::vector<T> work(static_cast<std::size_t>(size));
    routines<T>::geqrf(&m, &n, r.a[i].data(), &lda, r.tau[i].data(), work.data(), &size, &info);
  });
}

template <class T>
static result<void> compute(const gels_batched<T>& r, workers& all) {
  const blasint m = narrow(r.m), n = narrow(r.n), nrhs = narrow(r.nrhs), lda = narrow(or_tight(r.lda, r.m)),
                ldc = narrow(or_tight(r.ldc, r.m));
  return each(r, all, [&](std::size_t i) {
    blasint query = -1;
    T best;
    T *const a = r.a[i].data(), *const c = r.c[i].data();
    blasint& info = r.info.data()[i];
    routines<T>::gels("N", &m, &n, &nrhs, a, &lda, c, &ldc, &best, &query, &info, 1);
    const blasint size = std::max(lapack_size(best), std::max(1, n + std::max(n, nrhs)));
    std::vector<T> work(static_cast<std::size_t>(size));
    routines<T>::gels("N", &m, &n, &nrhs, a, &lda, c, &ldc, work.data(), &size, &info, 1);
    // LAPACK calls a matrix of zeros solved.
    if (info == 0 && a[0] == T(0)) info = 1;
  });
}

operations factorization_operations() noexcept {
  return operations_of<openblas, getrf_batched<float>, getrf_batched<double>, getrf_batched<complex64>,
                       getrf_batched<complex128>, getrs_batched<float>, getrs_batched<double>, getrs_batched<complex64>,
                       getrs_batched<complex128>, getri_batched<float>, getri_batched<double>, getri_batched<complex64>,
                       getri_batched<complex128>, matinv_batched<float>, matinv_batched<double>,
                       matinv_batched<complex64>, matinv_batched<complex128>, geqrf_batched<float>,
                       geqrf_batched<double>, geqrf_batched<complex64>, geqrf_batched<complex128>, gels_batched<float>,
                       gels_batched<double>, gels_batched<complex64>, gels_batched<complex128>>();
}

}  // namespace troupe::blas
