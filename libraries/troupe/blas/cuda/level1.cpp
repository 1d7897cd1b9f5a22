// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/cuda/engine.hpp>
#include <troupe/blas/level1/level1.hpp>

namespace troupe::blas {

namespace ka = kernel_arguments;

template <class T>
static result<void> enqueue(const axpy<T>& r, job& j) {
  if (r.alpha.is(T(0))) return {};
  // Our own kernel tests a factor in memory: if it is 0, the content of x must have no effect.
  if (!r.alpha.by_value()) {
    return j.launch(kernel<"add", T>, {at_most((r.n.value() + 255) / 256, 4096)}, {256},
                    ka::addition{.alpha = number_of(r.alpha),
                                 .x = r.x.data(),
                                 .y = r.y.data(),
                                 .n = r.n.value(),
                                 .incx = step(r.incx),
                                 .incy = step(r.incy)});
  }
  const auto f = TROUPE_TRY(j.factors(r.alpha));
  return j(TROUPE_CUBLAS(axpy_64), r.n.value(), std::get<0>(f), r.x.data(), step(r.incx), r.y.data(), step(r.incy));
}

template <class T>
static result<void> enqueue(const axpby<T>& r, job& j) {
  const std::int64_t n = r.n.value();
  if (step(r.incx) == 1 && step(r.incy) == 1 && r.alpha.by_value() && r.beta.by_value()) {
    const auto [alpha, beta] = TROUPE_TRY(j.factors(r.alpha, r.beta));
    return j(TROUPE_CUBLAS(geam_64), CUBLAS_OP_N, CUBLAS_OP_N, n, std::int64_t{1}, alpha, r.x.data(), n, beta,
             static_cast<const T*>(r.y.data()), n, r.y.data(), n);
  }
  TROUPE_TRY(scale(j, vector_region(r.y.data(), n, r.incy), r.beta));
  return enqueue(axpy<T>{.x = r.x, .y = r.y, .n = r.n, .alpha = r.alpha, .incx = r.incx, .incy = r.incy}, j);
}

template <class T, class F>
static result<void> enqueue(const scal<T, F>& r, job& j) {
  // A factor of 0 must multiply, so that NaN stays NaN, instead of clearing x.
  if (!r.alpha.by_value() || r.alpha.is(F(0)))
    return scale(j, vector_region(r.x.data(), r.n.value(), r.incx), r.alpha, true);
  const auto f = TROUPE_TRY(j.factors(r.alpha));
  const std::int64_t inc = std::abs(step(r.incx));
  if constexpr (std::is_same_v<T, F>)
    return j(TROUPE_CUBLAS(scal_64), r.n.value(), std::get<0>(f), r.x.data(), inc);
  else
    return j(of_type<T>(nullptr, nullptr, TROUPE_ROUTINE(cublasCsscal_64), TROUPE_ROUTINE(cublasZdscal_64)),
             r.n.value(), std::get<0>(f), r.x.data(), inc);
}

template <class T, class R, class F>
static result<void> move(const R& r, job& j, const routine<F>& routine) {
  return j(routine, r.n.value(), r.x.data(), step(r.incx), r.y.data(), step(r.incy));
}
TROUPE_ENQUEUED_BY(move, TROUPE_CUBLAS, copy, swap)

// Calls compute(place), in which cuBLAS writes the answer to `place`. If the request has a `result`, the reply is a
// copy of it.
template <class R, class Compute>
static result<void> answer(const R& r, job& j, Compute&& compute) {
  using reply = reply_to<R>;
  TROUPE_TRY(j.scalars_in(CUBLAS_POINTER_MODE_DEVICE));
  auto* const place = r.result ? r.result->data() : static_cast<reply*>(j.reply());
  if (auto ok = compute(place); !ok || !r.result) return ok;
  return j.launch(kernel<"deliver">, {}, {32}, ka::delivery{.from = place, .to = j.reply(), .bytes = sizeof(reply)});
}

template <class T, class R, class F>
static result<void> dot_product(const R& r, job& j, const routine<F>& routine) {
  return answer(r, j, [&](auto* place) {
    return j(routine, r.n.value(), r.x.data(), step(r.incx), r.y.data(), step(r.incy), place);
  });
}
TROUPE_ENQUEUED_BY(dot_product, TROUPE_CUBLAS_REAL, dot)
TROUPE_ENQUEUED_BY(dot_product, TROUPE_CUBLAS_COMPLEX, dotu, dotc)

template <class T>
static result<void> enqueue(const asum<T>& r, job& j) {
  return answer(r, j, [&](auto* place) {
    return j(of_type<T>(TROUPE_ROUTINE(cublasSasum_64), TROUPE_ROUTINE(cublasDasum_64), TROUPE_ROUTINE(cublasScasum_64),
                        TROUPE_ROUTINE(cublasDzasum_64)),
             r.n.value(), r.x.data(), std::abs(step(r.incx)), place);
  });
}

static_assert(ka::most_parts * ka::part_bytes <= lane::between_bytes);

// Uses our own kernels, because the requests specify what happens with NaN, infinities, overflow and ties. One kernel
// is enough for short vectors.
template <class T, class R>
static result<void> reduce(const R& r, job& j, cuda::kernel_id whole, cuda::kernel_id of_parts, bool largest) {
  constexpr std::int64_t threads = 256, alone = 16 * threads;
  const std::int64_t n = r.n.value();
  void* const wanted = r.result ? static_cast<void*>(r.result->data()) : nullptr;
  const ka::reduction all{.x = r.x.data(),
                          .n = n,
                          .step = std::abs(step(r.incx)),
                          .found = j.partial_results(),
                          .to = {j.reply(), wanted},
                          .parts = static_cast<std::int32_t>(at_most((n + alone - 1) / alone, ka::most_parts)),
                          .largest = largest,
                          .backwards = step(r.incx) < 0};
  if (auto ok = j.launch(whole, {static_cast<unsigned>(all.parts)}, {threads}, all); !ok || all.parts == 1) return ok;
  return j.launch(of_parts, {}, {threads}, all);
}
template <class T>
static result<void> enqueue(const nrm2<T>& r, job& j) {
  return reduce<T>(r, j, kernel<"norm", T>, kernel<"norm_of_parts", real_of<T>>, false);
}
template <class T, class R>
static result<void> find(const R& r, job& j, bool largest) {
  return reduce<T>(r, j, kernel<"find", T>, kernel<"find_among_parts", real_of<T>>, largest);
}
template <class T>
static result<void> enqueue(const iamax<T>& r, job& j) {
  return find<T>(r, j, true);
}
template <class T>
static result<void> enqueue(const iamin<T>& r, job& j) {
  return find<T>(r, j, false);
}

operations level1_operations() noexcept { return operations_of<cublas, all_level1>(); }

}  // namespace troupe::blas
