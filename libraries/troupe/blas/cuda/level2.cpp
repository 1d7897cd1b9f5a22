// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/cuda/engine.hpp>
#include <troupe/blas/cuda/products.hpp>
#include <troupe/blas/level2/level2.hpp>

namespace troupe::blas {

// y = alpha * op(A) * x + beta * y. If alpha is 0, scales y only. multiply(alpha, beta) calls the routine of cuBLAS.
template <class R, class Multiply>
static result<void> product_of(const R& r, job& j, extent ny, Multiply&& multiply) {
  const auto y = vector_region(r.y.data(), ny.value(), r.incy);
  if (r.alpha.is(0)) return scale(j, y, r.beta);
  const auto f = TROUPE_TRY(j.factors(r.alpha, r.beta));
  return unless_zero(j, r.alpha, r.beta, y, [&] { return std::apply(multiply, f); });
}

// Small products use our kernel for products, which gives the same bits alone and together with others: they compute
// the row y' = x' * op(A)', with the increment as the leading dimension of a matrix with one row.
template <class T>
static bool is_small(const gemv<T>& r) noexcept {
  constexpr std::int64_t longest = 96;
  return r.m <= longest && r.n <= longest;
}
template <class T>
static kernel_arguments::product row_product(const gemv<T>& r) noexcept {
  const std::int64_t ny = (r.trans == op::none ? r.m : r.n).value(), nx = (r.trans == op::none ? r.n : r.m).value(),
                     incx = step(r.incx), incy = step(r.incy);
  product_shape s{.trans_a = op::none,
                  .trans_b = r.trans == op::none ? op::transpose : op::none,
                  .m = 1,
                  .n = ny,
                  .k = nx,
                  .lda = incx,
                  .ldb = or_tight(r.lda, r.m).value(),
                  .ldc = incy};
  auto out = product_of(s, r.alpha, r.beta, r.x.data() + (incx < 0 ? (1 - nx) * incx : 0), r.a.data(),
                        r.y.data() + (incy < 0 ? (1 - ny) * incy : 0));
  if (r.trans == op::conjugate_transpose) out.op_b = kernel_arguments::conjugate_op;
  return out;
}

template <class T>
static result<void> enqueue(const gemv<T>& r, job& j) {
  if (is_small(r)) return multiply_ours<T, T>(j, row_product(r));
  return product_of(r, j, r.trans == op::none ? r.m : r.n, [&](const T* alpha, const T* beta) {
    return j(TROUPE_CUBLAS(gemv_64), code<T>(r.trans), r.m.value(), r.n.value(), alpha, r.a.data(),
             or_tight(r.lda, r.m).value(), r.x.data(), step(r.incx), beta, r.y.data(), step(r.incy));
  });
}
template <class T>
static std::uint64_t group_key(const gemv<T>& r) noexcept {
  return is_small(r) ? 1 : 0;
}
template <class T>
static result<void> enqueue_group(const group<gemv<T>>& all, job& j) {
  return multiply_ours<T, T>(j, all.size(), [&](std::size_t i) { return row_product(all[i]); });
}

template <class T>
static result<void> enqueue(const gbmv<T>& r, job& j) {
  // Diagonals that are outside of the matrix are not passed to cuBLAS.
  const extent kl = std::min(r.kl, r.m - 1), ku = std::min(r.ku, r.n - 1), lda = or_tight(r.lda, r.kl + r.ku + 1);
  const T* const a = r.a.data() + (r.ku - ku).value();
  return product_of(r, j, r.trans == op::none ? r.m : r.n, [&](const T* alpha, const T* beta) {
    return j(TROUPE_CUBLAS(gbmv_64), code<T>(r.trans), r.m.value(), r.n.value(), kl.value(), ku.value(), alpha, a,
             lda.value(), r.x.data(), step(r.incx), beta, r.y.data(), step(r.incy));
  });
}

template <class T, class R, class F>
static result<void> full(const R& r, job& j, const routine<F>& routine) {
  return product_of(r, j, r.n, [&](const T* alpha, const T* beta) {
    return j(routine, code(r.uplo), r.n.value(), alpha, r.a.data(), or_tight(r.lda, r.n).value(), r.x.data(),
             step(r.incx), beta, r.y.data(), step(r.incy));
  });
}
TROUPE_ENQUEUED_BY(full, TROUPE_CUBLAS, symv)
TROUPE_ENQUEUED_BY(full, TROUPE_CUBLAS_COMPLEX, hemv)

template <class T, class R, class F>
static result<void> band(const R& r, job& j, const routine<F>& routine) {
  const extent k = std::min(r.k, r.n - 1), lda = or_tight(r.lda, r.k + 1);
  const T* const a = r.a.data() + (r.uplo == triangle::upper ? (r.k - k).value() : 0);
  return product_of(r, j, r.n, [&](const T* alpha, const T* beta) {
    return j(routine, code(r.uplo), r.n.value(), k.value(), alpha, a, lda.value(), r.x.data(), step(r.incx), beta,
             r.y.data(), step(r.incy));
  });
}
TROUPE_ENQUEUED_BY(band, TROUPE_CUBLAS_REAL, sbmv)
TROUPE_ENQUEUED_BY(band, TROUPE_CUBLAS_COMPLEX, hbmv)

template <class T, class R, class F>
static result<void> packed(const R& r, job& j, const routine<F>& routine) {
  return product_of(r, j, r.n, [&](const T* alpha, const T* beta) {
    return j(routine, code(r.uplo), r.n.value(), alpha, r.a.data(), r.x.data(), step(r.incx), beta, r.y.data(),
             step(r.incy));
  });
}
TROUPE_ENQUEUED_BY(packed, TROUPE_CUBLAS_REAL, spmv)
TROUPE_ENQUEUED_BY(packed, TROUPE_CUBLAS_COMPLEX, hpmv)

operations level2_operations() noexcept { return operations_of<cublas, all_level2>(); }

}  // namespace troupe::blas
