// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/updates.hpp>

#include "engine.hpp"

namespace troupe::blas {

template <class T, class R, class Routine>
static result<void> general(const R& r, Routine routine) {
  TROUPE_TRY(fits(r, r.m, r.n));
  const T alpha = r.alpha.load();
  if (alpha == T(0)) return {};
  routine(CblasColMajor, narrow(r.m), narrow(r.n), by(alpha), r.x.data(), narrow(step(r.incx)), r.y.data(),
          narrow(step(r.incy)), r.a.data(), narrow(or_tight(r.lda, r.m)));
  return {};
}
TROUPE_COMPUTED_BY(general, ger, geru, gerc)

// Where diagonal element j of the matrix in `a` lies.
template <class R>
static std::int64_t diagonal_place(const R& r, std::int64_t j) noexcept {
  const std::int64_t n = r.n.value();
  if constexpr (requires { r.lda; }) return j * (or_tight(r.lda, r.n).value() + 1);
  return r.uplo == triangle::lower ? j * n - j * (j - 1) / 2 : j * (j + 1) / 2 + j;
}

// A Hermitian diagonal is real, before and after: the imaginary parts that memory holds do not count.
template <class R>
static void make_diagonal_real(const R& r) noexcept {
  for (std::int64_t j = 0; j < r.n.value(); ++j) make_real(r.a.data()[diagonal_place(r, j)]);
}

// add(alpha, incx) is the routine.
template <bool Hermitian, class R, class Add>
static result<void> symmetric(const R& r, Add&& add) {
  TROUPE_TRY(fits(r, r.n, r.n));
  const auto alpha = r.alpha.load();
  if (Hermitian) make_diagonal_real(r);
  if (alpha == decltype(alpha)(0)) return {};
  add(alpha, narrow(step(r.incx)));
  if (Hermitian) make_diagonal_real(r);
  return {};
}

template <class T>
static result<void> compute(const syr<T>& r) {
  return symmetric<false>(r, [&](T alpha, blasint incx) {
    const blasint n = narrow(r.n), lda = narrow(or_tight(r.lda, r.n));
    if constexpr (is_real<T>) {
      routines<T>::syr(CblasColMajor, code(r.uplo), n, alpha, r.x.data(), incx, r.a.data(), lda);
    } else {
      const char uplo = letter(r.uplo);
      routines<T>::syr(&uplo, &n, &alpha, r.x.data(), &incx, r.a.data(), &lda);
    }
  });
}
template <class T>
static result<void> compute(const her<T>& r) {
  return symmetric<true>(r, [&](real_of<T> alpha, blasint incx) {
    routines<T>::her(CblasColMajor, code(r.uplo), narrow(r.n), alpha, r.x.data(), incx, r.a.data(),
                     narrow(or_tight(r.lda, r.n)));
  });
}
template <class T>
static result<void> compute(const spr<T>& r) {
  return symmetric<false>(r, [&](T alpha, blasint incx) {
    routines<T>::spr(CblasColMajor, code(r.uplo), narrow(r.n), alpha, r.x.data(), incx, r.a.data());
  });
}
template <class T>
static result<void> compute(const hpr<T>& r) {
  return symmetric<true>(r, [&](real_of<T> alpha, blasint incx) {
    routines<T>::hpr(CblasColMajor, code(r.uplo), narrow(r.n), alpha, r.x.data(), incx, r.a.data());
  });
}
// A vector as neighbours in memory, first element first: OpenBLAS's complex syr2 takes no negative increments (0.3.21).
template <class T>
class in_order {
 public:
  in_order(const T* x, std::int64_t n, const extent& inc) : first_(x), step_(narrow(step(inc))) {
    if (step_ > 0) return;
    copy_.resize(static_cast<std::size_t>(n));
    routines<T>::copy(narrow(n), x, step_, copy_.data(), 1);
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
static result<void> compute(const syr2<T>& r) {
  return symmetric<false>(r, [&](T alpha, blasint incx) {
    const blasint n = narrow(r.n), lda = narrow(or_tight(r.lda, r.n));
    if constexpr (is_real<T>) {
      routines<T>::syr2(CblasColMajor, code(r.uplo), n, alpha, r.x.data(), incx, r.y.data(), narrow(step(r.incy)),
                        r.a.data(), lda);
    } else {
      const char uplo = letter(r.uplo);
      const in_order<T> x(r.x.data(), n, r.incx), y(r.y.data(), n, r.incy);
      routines<T>::syr2(&uplo, &n, &alpha, x.data(), x.step_by(), y.data(), y.step_by(), r.a.data(), &lda);
    }
  });
}
template <class T>
static result<void> compute(const her2<T>& r) {
  return symmetric<true>(r, [&](T alpha, blasint incx) {
    routines<T>::her2(CblasColMajor, code(r.uplo), narrow(r.n), by(alpha), r.x.data(), incx, r.y.data(),
                      narrow(step(r.incy)), r.a.data(), narrow(or_tight(r.lda, r.n)));
  });
}
template <class T>
static result<void> compute(const spr2<T>& r) {
  return symmetric<false>(r, [&](T alpha, blasint incx) {
    routines<T>::spr2(CblasColMajor, code(r.uplo), narrow(r.n), alpha, r.x.data(), incx, r.y.data(),
                      narrow(step(r.incy)), r.a.data());
  });
}
template <class T>
static result<void> compute(const hpr2<T>& r) {
  return symmetric<true>(r, [&](T alpha, blasint incx) {
    routines<T>::hpr2(CblasColMajor, code(r.uplo), narrow(r.n), by(alpha), r.x.data(), incx, r.y.data(),
                      narrow(step(r.incy)), r.a.data());
  });
}

operations update_operations() noexcept { return operations_of<openblas, all_updates>(); }

}  // namespace troupe::blas
