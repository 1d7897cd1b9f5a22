// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/batched.hpp>
#include <troupe/blas/host/batch.hpp>
#include <troupe/blas/host/engine.hpp>
#include <troupe/blas/host/products.hpp>

namespace troupe::blas {

template <class T, class R>
static vector_product<T> shape_of(const R& r) {
  return {.trans = r.trans,
          .m = r.m.value(),
          .n = r.n.value(),
          .alpha = r.alpha.load(),
          .beta = r.beta.load(),
          .a = nullptr,
          .lda = or_tight(r.lda, r.m).value(),
          .x = nullptr,
          .incx = step(r.incx),
          .y = nullptr,
          .incy = step(r.incy)};
}
template <class R>
static result<void> fits_vectors(const R& r) {
  // Only these values are passed to OpenBLAS; strides and the number of products are not.
  TROUPE_TRY(fits_in(r, r.m, r.n, r.lda, r.incx, r.incy));
  const bool transposed = r.trans != op::none;
  return backward_vectors_fit(r, transposed ? r.m : r.n, transposed ? r.n : r.m);
}
template <class R>
static double work_of(const R& r) noexcept {
  return static_cast<double>(r.m.value()) * static_cast<double>(r.n.value());
}

template <class T>
static result<void> compute(const gemv_batched<T>& r, thread_team& all) {
  TROUPE_TRY(fits_vectors(r));
  const auto shape = shape_of<T>(r);
  each_of_batch(all, static_cast<std::int64_t>(r.a.size()), work_of(r), [&](std::int64_t index) {
    const auto i = static_cast<std::size_t>(index);
    auto one = shape;
    one.a = r.a[i].data(), one.x = r.x[i].data(), one.y = r.y[i].data();
    multiply_vector(one);
  });
  return {};
}

template <class T>
static result<void> compute(const gemv_strided_batched<T>& r, thread_team& all) {
  TROUPE_TRY(fits_vectors(r));
  const auto shape = shape_of<T>(r);
  const bool transposed = r.trans != op::none;
  const std::int64_t a = or_tight(r.stride_a, extent(shape.lda) * r.n).value(),
                     x = or_tight(r.stride_x, (transposed ? r.m : r.n) * std::abs(shape.incx)).value(),
                     y = or_tight(r.stride_y, (transposed ? r.n : r.m) * std::abs(shape.incy)).value();
  each_of_batch(all, r.batch.value(), work_of(r), [&](std::int64_t i) {
    auto one = shape;
    one.a = r.a.data() + i * a, one.x = r.x.data() + i * x, one.y = r.y.data() + i * y;
    multiply_vector(one);
  });
  return {};
}

template <class T>
static result<void> compute(const trsm_batched<T>& r, thread_team& all) {
  TROUPE_TRY(fits(r));
  const T alpha = r.alpha.load();
  const extent order = r.side == side::left ? r.m : r.n, ldb = or_tight(r.ldb, r.m);
  each_of_batch(all, static_cast<std::int64_t>(r.a.size()), work_of(r) * static_cast<double>(order.value()),
                [&](std::int64_t index) {
                  const auto i = static_cast<std::size_t>(index);
                  if (alpha == T(0)) return scale(r.b[i].data(), r.m.value(), r.n.value(), ldb.value(), T(0));
                  TROUPE_CBLAS(trsm)(CblasColMajor, code(r.side), code(r.uplo), code(r.trans), code(r.diag),
                                     narrow(r.m), narrow(r.n), cblas_scalar(alpha), r.a[i].data(),
                                     narrow(or_tight(r.lda, order)), r.b[i].data(), narrow(ldb));
                });
  return {};
}

operations batched_operations() noexcept { return operations_of<openblas, all_batches>(); }

}  // namespace troupe::blas
