// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/blas/host/engine.hpp>
#include <troupe/blas/host/products.hpp>
#include <troupe/blas/level2/level2.hpp>

namespace troupe::blas {

// y = alpha * op(A) * x + beta * y. Scales y here if OpenBLAS would do it wrongly, and skips the product if alpha is 0.
// multiply(alpha, beta) calls the routine.
template <class T, class R, class Multiply>
static result<void> product_of(const R& r, std::int64_t ny, Multiply&& multiply) {
  const T alpha = r.alpha.load();
  T beta = r.beta.load();
  const auto scaling = [&] { scale(r.y.data(), ny, step(r.incy), beta); };
  if (alpha == T(0)) {
    scaling();
    return {};
  }
  beta = scaled_here(beta, scaling);
  multiply(alpha, beta);
  return {};
}

struct lengths {
  extent x, y;
};
template <class R>
static lengths lengths_of(const R& r) noexcept {
  const bool transposed = r.trans != op::none;
  return {transposed ? r.m : r.n, transposed ? r.n : r.m};
}

template <class T>
static result<void> compute(const gemv<T>& r) {
  const auto [nx, ny] = lengths_of(r);
  TROUPE_TRY(fits(r, nx, ny));
  multiply_vector(vector_product<T>{.trans = r.trans,
                                    .m = r.m.value(),
                                    .n = r.n.value(),
                                    .alpha = r.alpha.load(),
                                    .beta = r.beta.load(),
                                    .a = r.a.data(),
                                    .lda = or_tight(r.lda, r.m).value(),
                                    .x = r.x.data(),
                                    .incx = step(r.incx),
                                    .y = r.y.data(),
                                    .incy = step(r.incy)});
  return {};
}

template <class T>
static result<void> compute(const gbmv<T>& r) {
  const extent ny = lengths_of(r).y;
  TROUPE_TRY(fits(r, lengths_of(r).x, ny));
  const extent lda = or_tight(r.lda, r.kl + r.ku + 1);
  TROUPE_TRY(leading_fits(r, r.lda, lda));
  // Diagonals that are outside of the matrix are not passed to OpenBLAS.
  const extent kl = std::min(r.kl, r.m - 1), ku = std::min(r.ku, r.n - 1);
  const T* const a = r.a.data() + (r.ku - ku).value();
  return product_of<T>(r, ny.value(), [&](T alpha, T beta) {
    TROUPE_CBLAS(gbmv)(CblasColMajor, code(r.trans), narrow(r.m), narrow(r.n), narrow(kl), narrow(ku),
                       cblas_scalar(alpha), a, narrow(lda), r.x.data(), narrow(step(r.incx)), cblas_scalar(beta),
                       r.y.data(), narrow(step(r.incy)));
  });
}

template <class T, class R, class Routine>
static result<void> full(const R& r, Routine routine) {
  TROUPE_TRY(fits(r, r.n, r.n));
  return product_of<T>(r, r.n.value(), [&](T alpha, T beta) {
    routine(CblasColMajor, code(r.uplo), narrow(r.n), cblas_scalar(alpha), r.a.data(), narrow(or_tight(r.lda, r.n)),
            r.x.data(), narrow(step(r.incx)), cblas_scalar(beta), r.y.data(), narrow(step(r.incy)));
  });
}
template <class T>
static void complex_symv(CBLAS_ORDER, CBLAS_UPLO uplo, blasint n, const void* alpha, const T* a, blasint lda,
                         const T* x, blasint incx, const void* beta, T* y, blasint incy) {
  const char which = letter(uplo);
  const auto routine = TROUPE_FORTRAN_COMPLEX(symv);
  routine(&which, &n, static_cast<const T*>(alpha), a, &lda, x, &incx, static_cast<const T*>(beta), y, &incy);
}
TROUPE_COMPUTED_BY(full, TROUPE_CBLAS_SYMMETRIC, symv)
TROUPE_COMPUTED_BY(full, TROUPE_CBLAS_COMPLEX, hemv)

// Returns the number of diagonals of a band matrix, at most k, without those outside of the matrix.
template <class T, class R, class Routine>
static result<void> band(const R& r, Routine routine) {
  TROUPE_TRY(fits(r, r.n, r.n));
  const extent k = std::min(r.k, r.n - 1), lda = or_tight(r.lda, r.k + 1);
  TROUPE_TRY(leading_fits(r, r.lda, lda));
  const T* const a = r.a.data() + (r.uplo == triangle::upper ? (r.k - k).value() : 0);
  return product_of<T>(r, r.n.value(), [&](T alpha, T beta) {
    routine(CblasColMajor, code(r.uplo), narrow(r.n), narrow(k), cblas_scalar(alpha), a, narrow(lda), r.x.data(),
            narrow(step(r.incx)), cblas_scalar(beta), r.y.data(), narrow(step(r.incy)));
  });
}
TROUPE_COMPUTED_BY(band, TROUPE_CBLAS_REAL, sbmv)
TROUPE_COMPUTED_BY(band, TROUPE_CBLAS_COMPLEX, hbmv)

template <class T, class R, class Routine>
static result<void> packed(const R& r, Routine routine) {
  TROUPE_TRY(fits(r, r.n, r.n));
  return product_of<T>(r, r.n.value(), [&](T alpha, T beta) {
    routine(CblasColMajor, code(r.uplo), narrow(r.n), cblas_scalar(alpha), r.a.data(), r.x.data(), narrow(step(r.incx)),
            cblas_scalar(beta), r.y.data(), narrow(step(r.incy)));
  });
}
TROUPE_COMPUTED_BY(packed, TROUPE_CBLAS_REAL, spmv)
TROUPE_COMPUTED_BY(packed, TROUPE_CBLAS_COMPLEX, hpmv)

template <class T>
static std::uint64_t group_key(const gemv<T>& r) {
  const auto [nx, ny] = lengths_of(r);
  return fits(r, nx, ny) ? key_of_work(r, 9216, r.m, r.n) : never;
}

operations level2_operations() noexcept { return operations_of<openblas, all_level2>(); }

}  // namespace troupe::blas
