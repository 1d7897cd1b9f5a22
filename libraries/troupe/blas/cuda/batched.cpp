// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/batched.hpp>
#include <troupe/blas/cuda/engine.hpp>

namespace troupe::blas {

template <class R>
static std::int64_t length_of_y(const R& r) noexcept {
  return (r.trans == op::none ? r.m : r.n).value();
}

// cuBLAS does not document how its batches treat negative increments, so products with one are enqueued one by one.
template <class T, class R>
static result<void> one_by_one(const R& r, job& j, const T* a, const T* x, T* y) {
  const auto [alpha, beta] = TROUPE_TRY(j.factors(r.alpha, r.beta));
  auto ok = unless_zero(j, r.alpha, r.beta, vector_region(y, length_of_y(r), r.incy), [&, alpha = alpha, beta = beta] {
    return j(TROUPE_CUBLAS(gemv_64), code<T>(r.trans), r.m.value(), r.n.value(), alpha, a, or_tight(r.lda, r.m).value(),
             x, step(r.incx), beta, y, step(r.incy));
  });
  return ok ? j.next_part() : ok;
}
template <class R>
static bool has_negative_increment(const R& r) noexcept {
  return step(r.incx) < 0 || step(r.incy) < 0;
}

template <class T>
static result<void> enqueue(const gemv_batched<T>& r, job& j) {
  if (has_negative_increment(r) && !r.alpha.is(T(0))) {
    for (std::size_t i = 0; i < r.a.size(); ++i)
      TROUPE_TRY(one_by_one<T>(r, j, r.a[i].data(), r.x[i].data(), r.y[i].data()));
    return {};
  }
  return in_parts(j, r.a.size(), [&](std::size_t first, std::size_t count) -> result<void> {
    const auto y = TROUPE_TRY(j.addresses(r.y, first, count));
    auto results = vector_region<T>(nullptr, length_of_y(r), r.incy);
    results.batch = static_cast<std::int64_t>(count), results.list = y;
    if (r.alpha.is(T(0))) return scale(j, results, r.beta);
    const auto a = TROUPE_TRY(j.addresses(r.a, first, count));
    const auto x = TROUPE_TRY(j.addresses(r.x, first, count));
    const auto [alpha, beta] = TROUPE_TRY(j.factors(r.alpha, r.beta));
    return unless_zero(j, r.alpha, r.beta, results, [&, alpha = alpha, beta = beta] {
      return j(TROUPE_CUBLAS(gemvBatched_64), code<T>(r.trans), r.m.value(), r.n.value(), alpha, a,
               or_tight(r.lda, r.m).value(), x, step(r.incx), beta, y, step(r.incy), static_cast<std::int64_t>(count));
    });
  });
}

template <class T>
static result<void> enqueue(const gemv_strided_batched<T>& r, job& j) {
  const bool transposed = r.trans != op::none;
  const std::int64_t batch = r.batch.value(), lda = or_tight(r.lda, r.m).value(), incx = step(r.incx),
                     incy = step(r.incy), a = or_tight(r.stride_a, extent(lda) * r.n).value(),
                     x = or_tight(r.stride_x, (transposed ? r.m : r.n) * std::abs(incx)).value(),
                     y = or_tight(r.stride_y, (transposed ? r.n : r.m) * std::abs(incy)).value();
  auto results = vector_region(r.y.data(), length_of_y(r), r.incy);
  results.batch = batch, results.stride = y;
  if (r.alpha.is(T(0))) return scale(j, results, r.beta);
  if (has_negative_increment(r)) {
    for (std::int64_t i = 0; i < batch; ++i)
      TROUPE_TRY(one_by_one<T>(r, j, r.a.data() + i * a, r.x.data() + i * x, r.y.data() + i * y));
    return {};
  }
  const auto [alpha, beta] = TROUPE_TRY(j.factors(r.alpha, r.beta));
  return unless_zero(j, r.alpha, r.beta, results, [&, alpha = alpha, beta = beta] {
    return j(TROUPE_CUBLAS(gemvStridedBatched_64), code<T>(r.trans), r.m.value(), r.n.value(), alpha, r.a.data(), lda,
             a, r.x.data(), incx, x, beta, r.y.data(), incy, y, batch);
  });
}

template <class T>
static result<void> enqueue(const trsm_batched<T>& r, job& j) {
  const std::int64_t m = r.m.value(), n = r.n.value(), ldb = or_tight(r.ldb, r.m).value();
  return in_parts(j, r.a.size(), [&](std::size_t first, std::size_t count) -> result<void> {
    const auto b = TROUPE_TRY(j.addresses(r.b, first, count));
    const region<T> results{
        .c = nullptr, .rows = m, .columns = n, .ld = ldb, .batch = static_cast<std::int64_t>(count), .list = b};
    const scalar<T> nothing(T(0));
    if (r.alpha.is(T(0))) return scale(j, results, nothing);
    const auto a = TROUPE_TRY(j.addresses(r.a, first, count));
    const auto f = TROUPE_TRY(j.factors(r.alpha));
    return unless_zero(j, r.alpha, nothing, results, [&] {
      return j(TROUPE_CUBLAS(trsmBatched_64), code(r.side), code(r.uplo), code<T>(r.trans), code(r.diag), m, n,
               std::get<0>(f), a, or_tight(r.lda, r.side == side::left ? r.m : r.n).value(), b, ldb,
               static_cast<std::int64_t>(count));
    });
  });
}

operations batched_operations() noexcept { return operations_of<cublas, all_batches>(); }

}  // namespace troupe::blas
