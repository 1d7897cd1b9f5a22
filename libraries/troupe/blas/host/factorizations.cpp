// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Batches by LAPACK, one call for each matrix. An `info` below 0 would mean a bug: requests are checked before.
#include <troupe/base/text/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/blas/factorizations.hpp>
#include <troupe/blas/host/batch.hpp>
#include <troupe/blas/host/engine.hpp>
#include <troupe/blas/host/unpivoted_lu.hpp>

extern "C" {
#define TROUPE_DECLARE(P, T)                                                                                          \
  void P##getrf_(const blasint*, const blasint*, T*, const blasint*, blasint*, blasint*);                             \
  void P##getrs_(const char*, const blasint*, const blasint*, const T*, const blasint*, const blasint*, T*,           \
                 const blasint*, blasint*, std::size_t);                                                              \
  void P##getri_(const blasint*, T*, const blasint*, const blasint*, T*, const blasint*, blasint*);                   \
  void P##geqrf_(const blasint*, const blasint*, T*, const blasint*, T*, T*, const blasint*, blasint*);               \
  void P##trtrs_(const char*, const char*, const char*, const blasint*, const blasint*, const T*, const blasint*, T*, \
                 const blasint*, blasint*, std::size_t, std::size_t, std::size_t);
TROUPE_DECLARE(s, float)
TROUPE_DECLARE(d, double)
TROUPE_DECLARE(c, troupe::complex64)
TROUPE_DECLARE(z, troupe::complex128)
#undef TROUPE_DECLARE

#define TROUPE_DECLARE_APPLY_Q(NAME, T)                                                                         \
  void NAME(const char*, const char*, const blasint*, const blasint*, const blasint*, const T*, const blasint*, \
            const T*, T*, const blasint*, T*, const blasint*, blasint*, std::size_t, std::size_t);
TROUPE_DECLARE_APPLY_Q(sormqr_, float)
TROUPE_DECLARE_APPLY_Q(dormqr_, double)
TROUPE_DECLARE_APPLY_Q(cunmqr_, troupe::complex64)
TROUPE_DECLARE_APPLY_Q(zunmqr_, troupe::complex128)
#undef TROUPE_DECLARE_APPLY_Q
}

namespace troupe::blas {

static_assert(std::is_same_v<blasint, std::int32_t>, "pivots and info are passed on as they are");

// Returns the pivots of matrix i.
template <class O>
static auto* pivots_of(const std::optional<O>& pivots, std::size_t i, extent n) {
  return pivots ? pivots->data() + i * static_cast<std::size_t>(n.value()) : nullptr;
}
template <class T>
static void copy_square(const T* from, std::int64_t from_ld, T* to, std::int64_t to_ld, std::int64_t n) {
  for (std::int64_t j = 0; j < n; ++j) std::copy_n(from + j * from_ld, n, to + j * to_ld);
}
// Calls a LAPACK routine, f(work, size), with the workspace that it asks for, but at least `least` elements. If the
// size is -1, the routine returns the size that it wants.
template <class T, class F>
static void with_workspace(blasint least, F&& f) {
  T best;
  blasint size = -1;
  f(&best, &size);
  if constexpr (is_real<T>)
    size = std::max(static_cast<blasint>(best), least);
  else
    size = std::max(static_cast<blasint>(best.real), least);
  std::vector<T> work(static_cast<std::size_t>(size));
  f(work.data(), &size);
}

// Checks the pivots: they can be any numbers, and LAPACK would write where they point.
template <class R>
static result<void> pivots_lie_within(const R& r) {
  if (!r.pivots) return {};
  const std::int64_t n = r.n.value();
  for (std::size_t i = 0; i < r.a.size(); ++i)
    for (std::int64_t j = 0; j < n; ++j)
      if (const std::int32_t p = pivots_of(r.pivots, i, r.n)[j]; p <= j || p > n)
        return error(
            reaction::caller_bug, "blas",
            cat(name_of<R>(), ": pivots[", static_cast<std::int64_t>(i) * n + j, "], which is number ", j + 1,
                " of matrix a[", i, "], is ", p, "; expected ", j + 1, " to ", n, ", as getrf_batched writes it"));
  return {};
}

// Calls f(index) for each matrix. Precondition: the request has passed `fits`.
template <class R, class F>
static result<void> each(const R& r, thread_team& all, F&& f) {
  const double n = static_cast<double>(r.n.value());
  each_of_batch(all, static_cast<std::int64_t>(r.a.size()), n * n * n,
                [&](std::int64_t i) { f(static_cast<std::size_t>(i)); });
  return {};
}

template <class T>
static result<void> compute(const getrf_batched<T>& r, thread_team& all) {
  TROUPE_TRY(fits(r));
  const blasint n = narrow(r.n), lda = narrow(or_tight(r.lda, r.n));
  return each(r, all, [&](std::size_t i) {
    if (r.pivots)
      TROUPE_FORTRAN(getrf)(&n, &n, r.a[i].data(), &lda, pivots_of(r.pivots, i, r.n), r.info.data() + i);
    else
      r.info.data()[i] = factor_unpivoted(r.a[i].data(), n, lda);
  });
}

template <class T>
static result<void> compute(const getrs_batched<T>& r, thread_team& all) {
  TROUPE_TRY(fits(r));
  TROUPE_TRY(pivots_lie_within(r));
  const blasint n = narrow(r.n), nrhs = narrow(r.nrhs), lda = narrow(or_tight(r.lda, r.n)),
                ldb = narrow(or_tight(r.ldb, r.n));
  const char trans = letter(r.trans);
  const T one = T(1);
  return each(r, all, [&](std::size_t i) {
    if (r.pivots) {
      blasint info;
      TROUPE_FORTRAN(getrs)(&trans, &n, &nrhs, r.a[i].data(), &lda, pivots_of(r.pivots, i, r.n), r.b[i].data(), &ldb,
                            &info, 1);
      return;
    }
    const auto solve = [&](CBLAS_UPLO uplo, CBLAS_DIAG diag) {
      TROUPE_CBLAS(trsm)(CblasColMajor, CblasLeft, uplo, code(r.trans), diag, n, nrhs, cblas_scalar(one), r.a[i].data(),
                         lda, r.b[i].data(), ldb);
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

// Inverts a factored matrix in place. Returns LAPACK's info.
template <class T>
static blasint invert(T* a, blasint n, blasint lda, const blasint* pivots) {
  blasint info;
  with_workspace<T>(
      n, [&](T* work, const blasint* size) { TROUPE_FORTRAN(getri)(&n, a, &lda, pivots, work, size, &info); });
  return info;
}

template <class T>
static result<void> compute(const getri_batched<T>& r, thread_team& all) {
  TROUPE_TRY(fits(r));
  TROUPE_TRY(pivots_lie_within(r));
  const std::int64_t n = r.n.value(), lda = or_tight(r.lda, r.n).value(), ldc = or_tight(r.ldc, r.n).value();
  std::vector<blasint> in_place;  // pivots that swap no rows
  if (!r.pivots)
    for (blasint i = 1; i <= n; ++i) in_place.push_back(i);
  return each(r, all, [&](std::size_t i) {
    copy_square(r.a[i].data(), lda, r.c[i].data(), ldc, n);
    const blasint* const pivots = r.pivots ? pivots_of(r.pivots, i, r.n) : in_place.data();
    r.info.data()[i] = invert(r.c[i].data(), narrow(n), narrow(ldc), pivots);
  });
}

template <class T>
static result<void> compute(const matinv_batched<T>& r, thread_team& all) {
  TROUPE_TRY(fits(r));
  const blasint n = narrow(r.n), ldc = narrow(or_tight(r.ldc, r.n));
  return each(r, all, [&](std::size_t i) {
    T* const c = r.c[i].data();
    blasint& info = r.info.data()[i];
    std::vector<blasint> pivots(static_cast<std::size_t>(n));
    copy_square(r.a[i].data(), or_tight(r.lda, r.n).value(), c, ldc, n);
    TROUPE_FORTRAN(getrf)(&n, &n, c, &ldc, pivots.data(), &info);
    if (info == 0) info = invert(c, n, ldc, pivots.data());
  });
}

template <class T>
static void factor_into_q_and_r(blasint m, blasint n, T* a, blasint lda, T* tau) {
  blasint info;
  with_workspace<T>(
      n, [&](T* work, const blasint* size) { TROUPE_FORTRAN(geqrf)(&m, &n, a, &lda, tau, work, size, &info); });
}
template <class T>
static result<void> compute(const geqrf_batched<T>& r, thread_team& all) {
  TROUPE_TRY(fits(r));
  const blasint m = narrow(r.m), n = narrow(r.n), lda = narrow(or_tight(r.lda, r.m));
  return each(r, all, [&](std::size_t i) { factor_into_q_and_r(m, n, r.a[i].data(), lda, r.tau[i].data()); });
}

// C = conj(transpose(Q)) * C
template <class T>
static void multiply_by_transposed_q(blasint m, blasint n, blasint nrhs, const T* a, blasint lda, const T* tau, T* c,
                                     blasint ldc) {
  const char trans = is_real<T> ? 'T' : 'C';
  blasint info;
  with_workspace<T>(nrhs, [&](T* work, const blasint* size) {
    of_type<T>(sormqr_, dormqr_, cunmqr_, zunmqr_)("L", &trans, &m, &nrhs, &n, a, &lda, tau, c, &ldc, work, size, &info,
                                                   1, 1);
  });
}
// Does not use LAPACK's gels: it scales matrices with very small or large elements, and then returns the factors of the
// scaled matrix.
template <class T>
static result<void> compute(const gels_batched<T>& r, thread_team& all) {
  TROUPE_TRY(fits(r));
  const blasint m = narrow(r.m), n = narrow(r.n), nrhs = narrow(r.nrhs), lda = narrow(or_tight(r.lda, r.m)),
                ldc = narrow(or_tight(r.ldc, r.m));
  return each(r, all, [&](std::size_t i) {
    T *const a = r.a[i].data(), *const c = r.c[i].data();
    std::vector<T> tau(static_cast<std::size_t>(n));
    factor_into_q_and_r(m, n, a, lda, tau.data());
    multiply_by_transposed_q(m, n, nrhs, a, lda, tau.data(), c, ldc);
    TROUPE_FORTRAN(trtrs)("U", "N", "N", &n, &nrhs, a, &lda, c, &ldc, r.info.data() + i, 1, 1, 1);
  });
}

operations factorization_operations() noexcept { return operations_of<openblas, all_factorizations>(); }

}  // namespace troupe::blas
