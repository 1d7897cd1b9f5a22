// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/cuda/engine.hpp>
#include <troupe/blas/cuda/hermitian.hpp>
#include <troupe/blas/level3/level3.hpp>

namespace troupe::blas {

template <class T, class R, class F>
static result<void> symmetric_product(const R& r, job& j, const routine<F>& routine) {
  const std::int64_t m = r.m.value(), n = r.n.value(), ldc = or_tight(r.ldc, r.m).value();
  const region<T> c{.c = r.c.data(), .rows = m, .columns = n, .ld = ldc};
  if (r.alpha.is(T(0))) return scale(j, c, r.beta);
  const auto f = TROUPE_TRY(j.factors(r.alpha, r.beta));
  return unless_zero(j, r.alpha, r.beta, c, [&] {
    return j(routine, code(r.side), code(r.uplo), m, n, std::get<0>(f), r.a.data(),
             or_tight(r.lda, r.side == side::left ? r.m : r.n).value(), r.b.data(), or_tight(r.ldb, r.m).value(),
             std::get<1>(f), r.c.data(), ldc);
  });
}
TROUPE_ENQUEUED_BY(symmetric_product, TROUPE_CUBLAS, symm)
TROUPE_ENQUEUED_BY(symmetric_product, TROUPE_CUBLAS_COMPLEX, hemm)

// One triangle of C = alpha * op(A) * op(A)' + beta * C, or of alpha * op(A) * op(B)' + beta * C.
template <class T, class R, class F>
static result<void> update(const R& r, job& j, const routine<F>& routine) {
  const std::int64_t n = r.n.value(), ldc = or_tight(r.ldc, r.n).value();
  const auto ld = [&](const extent& given) { return or_tight(given, r.trans == op::none ? r.n : r.k).value(); };
  const region<T> c{.c = r.c.data(),
                    .rows = n,
                    .columns = n,
                    .ld = ldc,
                    .which = r.uplo == triangle::lower ? kernel_arguments::part::lower : kernel_arguments::part::upper};
  const auto add = [&]() -> result<void> {
    if (r.alpha.is(0)) return scale(j, c, r.beta);
    const auto f = TROUPE_TRY(j.factors(r.alpha, r.beta));
    return unless_zero(j, r.alpha, r.beta, c, [&] {
      const auto [alpha, beta] = f;
      if constexpr (requires { r.b; })
        return j(routine, code(r.uplo), code<T>(r.trans), n, r.k.value(), alpha, r.a.data(), ld(r.lda), r.b.data(),
                 ld(r.ldb), beta, r.c.data(), ldc);
      else
        return j(routine, code(r.uplo), code<T>(r.trans), n, r.k.value(), alpha, r.a.data(), ld(r.lda), beta,
                 r.c.data(), ldc);
    });
  };
  if constexpr (is_hermitian<R>)
    return keeping_real(j, hermitian_diagonal<T>{r.c.data(), n, ldc}, add);
  else
    return add();
}
TROUPE_ENQUEUED_BY(update, TROUPE_CUBLAS, syrk, syr2k, syrkx)
TROUPE_ENQUEUED_BY(update, TROUPE_CUBLAS_COMPLEX, herk, her2k, herkx)

// C = alpha * product. If alpha is 0, clears C. compute(alpha) calls the routine of cuBLAS.
template <class T, class R, class Compute>
static result<void> triangular(const R& r, job& j, T* c, std::int64_t ldc, Compute&& compute) {
  const region<T> all{.c = c, .rows = r.m.value(), .columns = r.n.value(), .ld = ldc};
  const scalar<T> nothing(T(0));
  if (r.alpha.is(T(0))) return scale(j, all, nothing);
  const auto f = TROUPE_TRY(j.factors(r.alpha));
  return unless_zero(j, r.alpha, nothing, all, [&] { return compute(std::get<0>(f)); });
}
template <class R>
static std::int64_t ld_of_a(const R& r) noexcept {
  return or_tight(r.lda, r.side == side::left ? r.m : r.n).value();
}
template <class T>
static result<void> enqueue(const trmm<T>& r, job& j) {
  const std::int64_t ldc = or_tight(r.ldc, r.m).value();
  return triangular(r, j, r.c.data(), ldc, [&](const T* alpha) {
    return j(TROUPE_CUBLAS(trmm_64), code(r.side), code(r.uplo), code<T>(r.trans), code(r.diag), r.m.value(),
             r.n.value(), alpha, r.a.data(), ld_of_a(r), r.b.data(), or_tight(r.ldb, r.m).value(), r.c.data(), ldc);
  });
}
template <class T>
static result<void> enqueue(const trsm<T>& r, job& j) {
  const std::int64_t ldb = or_tight(r.ldb, r.m).value();
  return triangular(r, j, r.b.data(), ldb, [&](const T* alpha) {
    return j(TROUPE_CUBLAS(trsm_64), code(r.side), code(r.uplo), code<T>(r.trans), code(r.diag), r.m.value(),
             r.n.value(), alpha, r.a.data(), ld_of_a(r), r.b.data(), ldb);
  });
}

operations level3_operations() noexcept { return operations_of<cublas, all_level3>(); }

}  // namespace troupe::blas
