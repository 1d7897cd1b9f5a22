// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/host/engine.hpp>
#include <troupe/blas/host/kernels.hpp>
#include <troupe/blas/level1/level1.hpp>

namespace troupe::blas {

template <class T>
static result<void> compute(const axpy<T>& r) {
  const T alpha = r.alpha.load();
  pieces(r.n.value(), step(r.incx), step(r.incy),
         [&](blasint n, std::int64_t x, blasint incx, std::int64_t y, blasint incy) {
           TROUPE_CBLAS(axpy)(n, cblas_scalar(alpha), r.x.data() + x, incx, r.y.data() + y, incy);
         });
  return {};
}

template <class T>
static result<void> compute(const axpby<T>& r) {
  const T alpha = r.alpha.load(), beta = r.beta.load();
  const auto scaling = [&] { scale(r.y.data(), r.n.value(), step(r.incy), beta); };
  if (alpha == T(0)) {
    scaling();
    return {};
  }
  const T left = scaled_here(beta, scaling);
  pieces(r.n.value(), step(r.incx), step(r.incy),
         [&](blasint n, std::int64_t x, blasint incx, std::int64_t y, blasint incy) {
           TROUPE_CBLAS(axpby)(n, cblas_scalar(alpha), r.x.data() + x, incx, cblas_scalar(left), r.y.data() + y, incy);
         });
  return {};
}

template <class T, class F>
static result<void> compute(const scal<T, F>& r) {
  const F alpha = r.alpha.load();
  if (must_scale_here(alpha)) {
    const std::int64_t inc = std::abs(step(r.incx));
    for (std::int64_t i = 0; i < r.n.value(); ++i) r.x.data()[i * inc] = product(alpha, r.x.data()[i * inc]);
    return {};
  }
  pieces(r.n.value(), step(r.incx), [&](blasint n, std::int64_t x, blasint inc) {
    if constexpr (std::is_same_v<T, F>)
      TROUPE_CBLAS(scal)(n, cblas_scalar(alpha), r.x.data() + x, inc);
    else
      of_type<T>(nullptr, nullptr, cblas_csscal, cblas_zdscal)(n, alpha, r.x.data() + x, inc);
  });
  return {};
}

template <class T, class R, class Routine>
static result<void> move(const R& r, Routine routine) {
  pieces(r.n.value(), step(r.incx), step(r.incy),
         [&](blasint n, std::int64_t x, blasint incx, std::int64_t y, blasint incy) {
           routine(n, r.x.data() + x, incx, r.y.data() + y, incy);
         });
  return {};
}
TROUPE_COMPUTED_BY(move, TROUPE_CBLAS, copy, swap)

template <class T>
static result<T> compute(const dot<T>& r) {
  double sum = 0;
  pieces(r.n.value(), step(r.incx), step(r.incy),
         [&](blasint n, std::int64_t x, blasint incx, std::int64_t y, blasint incy) {
           sum += static_cast<double>(TROUPE_CBLAS_REAL(dot)(n, r.x.data() + x, incx, r.y.data() + y, incy));
         });
  return answer(r, static_cast<T>(sum));
}

template <class T, class R, class Routine>
static result<T> complex_dot(const R& r, Routine routine) {
  complex128 sum{};
  pieces(r.n.value(), step(r.incx), step(r.incy),
         [&](blasint n, std::int64_t x, blasint incx, std::int64_t y, blasint incy) {
           T part;
           routine(n, r.x.data() + x, incx, r.y.data() + y, incy, &part);
           sum = troupe::blas::sum(sum, complex128(part));
         });
  return answer(r, T(sum));
}
#define TROUPE_DOT_OF(NAME) TROUPE_CBLAS_COMPLEX(NAME##_sub)
TROUPE_COMPUTED_BY(complex_dot, TROUPE_DOT_OF, dotu, dotc)
#undef TROUPE_DOT_OF

template <class T>
static result<real_of<T>> compute(const nrm2<T>& r) {
  using real = real_of<T>;
  double norm = 0;
  pieces(r.n.value(), step(r.incx), [&](blasint n, std::int64_t x, blasint inc) {
    const real part = of_type<T>(cblas_snrm2, cblas_dnrm2, cblas_scnrm2, cblas_dznrm2)(n, r.x.data() + x, inc);
    norm = n == r.n.value() ? static_cast<double>(part) : std::hypot(norm, static_cast<double>(part));
  });
  // Some of OpenBLAS's kernels square without scaling. If a square may have overflowed or underflowed, the norm is
  // computed again.
  constexpr double least = std::is_same_v<real, double> ? 1e-140 : 1e-15, largest = 1 / least;
  if (!(norm > least && norm < largest)) norm = scaled_norm(r.x.data(), r.n.value(), std::abs(step(r.incx)));
  return answer(r, static_cast<real>(norm));
}

template <class T>
static double sum_of_reals(const T* x, std::int64_t n, std::int64_t inc) {
  double sum = 0;
  pieces(n, inc, [&](blasint count, std::int64_t at, blasint step) {
    sum += static_cast<double>(TROUPE_CBLAS_REAL(asum)(count, x + at, step));
  });
  return sum;
}
// Does not use OpenBLAS's own routines: in version 0.3.21, one of the kernels for Cooperlake is wrong.
template <class T>
static double sum_of_complex(const T* x, std::int64_t n, std::int64_t inc) {
  using real = real_of<T>;
  if (inc == 1) return sum_of_reals(reinterpret_cast<const real*>(x), 2 * n, 1);
  double sum = 0;
  for (std::int64_t i = 0; i < n; ++i)
    sum += std::abs(static_cast<double>(x[i * inc].real)) + std::abs(static_cast<double>(x[i * inc].imag));
  return sum;
}
template <class T>
static result<real_of<T>> compute(const asum<T>& r) {
  const std::int64_t n = r.n.value(), inc = std::abs(step(r.incx));
  double sum;
  if constexpr (std::is_same_v<T, real_of<T>>)
    sum = sum_of_reals(r.x.data(), n, inc);
  else
    sum = sum_of_complex(r.x.data(), n, inc);
  return answer(r, static_cast<real_of<T>>(sum));
}

// Uses our own loops: the results of OpenBLAS's search with NaN depend on the processor.
template <class R, class T>
static result<std::int64_t> extremum(const R& r, const T* x, bool largest) {
  const std::int64_t n = r.n.value(), inc = step(r.incx);
  // If the increment is negative, the first element is the last in memory.
  const std::int64_t at = find_extremum(x, n, std::abs(inc), largest, inc < 0);
  return answer(r, inc < 0 ? n - 1 - at : at);
}
template <class T>
static result<std::int64_t> compute(const iamax<T>& r) {
  return extremum(r, r.x.data(), true);
}
template <class T>
static result<std::int64_t> compute(const iamin<T>& r) {
  return extremum(r, r.x.data(), false);
}

// The number of elements of all of these requests is `n`.
template <class R>
static std::uint64_t group_key(const R& r) noexcept {
  return key_of_work(r, 4096, r.n);
}

operations level1_operations() noexcept { return operations_of<openblas, all_level1>(); }

}  // namespace troupe::blas
