// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/cuda/engine.hpp>
#include <troupe/blas/cuda/hermitian.hpp>
#include <troupe/blas/level2/updates.hpp>

namespace troupe::blas {

template <class T, class R, class F>
static result<void> general(const R& r, job& j, const routine<F>& routine) {
  if (r.alpha.is(T(0))) return {};
  const auto f = TROUPE_TRY(j.factors(r.alpha));
  const std::int64_t lda = or_tight(r.lda, r.m).value();
  const region<T> a{.c = r.a.data(), .rows = r.m.value(), .columns = r.n.value(), .ld = lda};
  return unless_zero(j, r.alpha, scalar<T>(T(1)), a, [&] {
    return j(routine, r.m.value(), r.n.value(), std::get<0>(f), r.x.data(), step(r.incx), r.y.data(), step(r.incy),
             r.a.data(), lda);
  });
}
TROUPE_ENQUEUED_BY(general, TROUPE_CUBLAS_REAL, ger)
TROUPE_ENQUEUED_BY(general, TROUPE_CUBLAS_COMPLEX, geru, gerc)

template <class T, class R>
static hermitian_diagonal<T> diagonal_of(const R& r) noexcept {
  if constexpr (requires { r.lda; })
    return {r.a.data(), r.n.value(), or_tight(r.lda, r.n).value()};
  else
    return {r.a.data(), r.n.value(), 0,
            r.uplo == triangle::lower ? kernel_arguments::part::packed_lower : kernel_arguments::part::packed_upper};
}

// Returns the part of the matrix that is written: a triangle, or all of a packed matrix.
template <class T, class R>
static region<T> region_of(const R& r) noexcept {
  const std::int64_t n = r.n.value();
  if constexpr (requires { r.lda; })
    return {.c = r.a.data(),
            .rows = n,
            .columns = n,
            .ld = or_tight(r.lda, r.n).value(),
            .which = r.uplo == triangle::lower ? kernel_arguments::part::lower : kernel_arguments::part::upper};
  else
    return {.c = r.a.data(), .rows = n * (n + 1) / 2, .columns = 1, .ld = 1};
}

// Updates of rank 1 or 2, full or packed.
template <class T, class R, class F>
static result<void> symmetric(const R& r, job& j, const routine<F>& routine) {
  const auto add = [&]() -> result<void> {
    if (r.alpha.is(0)) return {};
    const auto f = TROUPE_TRY(j.factors(r.alpha));
    const auto with = [&](auto... rest) {
      return j(routine, code(r.uplo), r.n.value(), std::get<0>(f), r.x.data(), step(r.incx), rest...);
    };
    const auto with_vectors = [&](auto... rest) {
      if constexpr (requires { r.y; })
        return with(r.y.data(), step(r.incy), rest...);
      else
        return with(rest...);
    };
    return unless_zero(j, r.alpha, scalar<T>(T(1)), region_of<T>(r), [&] {
      if constexpr (requires { r.lda; })
        return with_vectors(r.a.data(), or_tight(r.lda, r.n).value());
      else
        return with_vectors(r.a.data());
    });
  };
  if constexpr (is_hermitian<R>)
    return keeping_real(j, diagonal_of<T>(r), add);
  else
    return add();
}

TROUPE_ENQUEUED_BY(symmetric, TROUPE_CUBLAS, syr, syr2)
TROUPE_ENQUEUED_BY(symmetric, TROUPE_CUBLAS_REAL, spr, spr2)
TROUPE_ENQUEUED_BY(symmetric, TROUPE_CUBLAS_COMPLEX, her, hpr, her2, hpr2)

operations update_operations() noexcept { return operations_of<cublas, all_updates>(); }

}  // namespace troupe::blas
