// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/host/engine.hpp>
#include <troupe/blas/level2/updates.hpp>

namespace troupe::blas {

template <class T, class R, class Routine>
static result<void> general(const R& r, Routine routine) {
  TROUPE_TRY(fits(r, r.m, r.n));
  const T alpha = r.alpha.load();
  if (alpha == T(0)) return {};
  routine(CblasColMajor, narrow(r.m), narrow(r.n), cblas_scalar(alpha), r.x.data(), narrow(step(r.incx)), r.y.data(),
          narrow(step(r.incy)), r.a.data(), narrow(or_tight(r.lda, r.m)));
  return {};
}
TROUPE_COMPUTED_BY(general, TROUPE_CBLAS_REAL, ger)
TROUPE_COMPUTED_BY(general, TROUPE_CBLAS_COMPLEX, geru, gerc)

// Returns diagonal element j of the matrix in `a`.
template <class R>
static std::int64_t diagonal_place(const R& r, std::int64_t j) noexcept {
  const std::int64_t n = r.n.value();
  if constexpr (requires { r.lda; }) return j * (or_tight(r.lda, r.n).value() + 1);
  return r.uplo == triangle::lower ? j * n - j * (j - 1) / 2 : j * (j + 1) / 2 + j;
}

// Makes a Hermitian diagonal real, because imaginary parts in memory must have no effect, and must be 0 in the result.
template <class R>
static void make_diagonal_real(const R& r) noexcept {
  for (std::int64_t j = 0; j < r.n.value(); ++j) make_real(r.a.data()[diagonal_place(r, j)]);
}

// Updates of rank 1 or 2, full or packed.
template <class T, class R, class Routine>
static result<void> symmetric(const R& r, Routine routine) {
  TROUPE_TRY(fits(r, r.n, r.n));
  const auto alpha = r.alpha.load();
  if (is_hermitian<R>) make_diagonal_real(r);
  if (alpha == decltype(alpha)(0)) return {};
  const auto with = [&](auto... rest) {
    routine(CblasColMajor, code(r.uplo), narrow(r.n), cblas_scalar(alpha), r.x.data(), narrow(step(r.incx)), rest...);
  };
  const auto with_matrix = [&](auto... y) {
    if constexpr (requires { r.lda; })
      with(y..., r.a.data(), narrow(or_tight(r.lda, r.n)));
    else
      with(y..., r.a.data());
  };
  if constexpr (requires { r.y; })
    with_matrix(r.y.data(), narrow(step(r.incy)));
  else
    with_matrix();
  if (is_hermitian<R>) make_diagonal_real(r);
  return {};
}

template <class T>
static void complex_syr(CBLAS_ORDER, CBLAS_UPLO uplo, blasint n, const void* alpha, const T* x, blasint incx, T* a,
                        blasint lda) {
  const char which = letter(uplo);
  TROUPE_FORTRAN_COMPLEX(syr)(&which, &n, static_cast<const T*>(alpha), x, &incx, a, &lda);
}
// Copies a vector to adjacent memory, first element first: OpenBLAS's complex syr2 does not support negative increments
// (0.3.21).
template <class T>
class in_order {
 public:
  in_order(const T* x, blasint n, blasint inc) : first_(x), step_(inc) {
    if (step_ > 0) return;
    copy_.resize(static_cast<std::size_t>(n));
    TROUPE_CBLAS(copy)(n, x, step_, copy_.data(), 1);
    first_ = copy_.data(), step_ = 1;
  }
  const T* data() const noexcept { return first_; }
  const blasint* step_by() const noexcept { return &step_; }

 private:
  const T* first_;
  blasint step_;
  std::vector<T> copy_;
};
template <class T>
static void complex_syr2(CBLAS_ORDER, CBLAS_UPLO uplo, blasint n, const void* alpha, const T* x, blasint incx,
                         const T* y, blasint incy, T* a, blasint lda) {
  const char which = letter(uplo);
  const in_order<T> first(x, n, incx), second(y, n, incy);
  const auto routine = TROUPE_FORTRAN_COMPLEX(syr2);
  routine(&which, &n, static_cast<const T*>(alpha), first.data(), first.step_by(), second.data(), second.step_by(), a,
          &lda);
}
TROUPE_COMPUTED_BY(symmetric, TROUPE_CBLAS_SYMMETRIC, syr, syr2)
TROUPE_COMPUTED_BY(symmetric, TROUPE_CBLAS_REAL, spr, spr2)
TROUPE_COMPUTED_BY(symmetric, TROUPE_CBLAS_COMPLEX, her, hpr, her2, hpr2)

operations update_operations() noexcept { return operations_of<openblas, all_updates>(); }

}  // namespace troupe::blas
