// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <troupe/base/try.hpp>
#include <troupe/blas/host/engine.hpp>
#include <troupe/blas/host/products.hpp>
#include <troupe/blas/level3/level3.hpp>

namespace troupe::blas {

template <class T, class R, class Routine>
static result<void> symmetric_product(const R& r, Routine routine) {
  TROUPE_TRY(fits(r));
  const T alpha = r.alpha.load();
  T beta = r.beta.load();
  const extent ldc = or_tight(r.ldc, r.m);
  const auto scaling = [&] { scale(r.c.data(), r.m.value(), r.n.value(), ldc.value(), beta); };
  if (alpha == T(0)) {
    scaling();
    return {};
  }
  beta = scaled_here(beta, scaling);
  routine(CblasColMajor, code(r.side), code(r.uplo), narrow(r.m), narrow(r.n), cblas_scalar(alpha), r.a.data(),
          narrow(or_tight(r.lda, r.side == side::left ? r.m : r.n)), r.b.data(), narrow(or_tight(r.ldb, r.m)),
          cblas_scalar(beta), r.c.data(), narrow(ldc));
  return {};
}
TROUPE_COMPUTED_BY(symmetric_product, TROUPE_CBLAS, symm)
TROUPE_COMPUTED_BY(symmetric_product, TROUPE_CBLAS_COMPLEX, hemm)

/// The operands that updates of a symmetric or Hermitian C have in common: C, its triangle, and the factors.
template <class T, class R>
struct update {
  using alpha_type = decltype(std::declval<R>().alpha.load());
  using beta_type = decltype(std::declval<R>().beta.load());
  const R& r;
  alpha_type alpha = r.alpha.load();
  beta_type beta = r.beta.load();
  T* c = r.c.data();
  std::int64_t n = r.n.value(), ldc = or_tight(r.ldc, r.n).value();
  blasint ld(const extent& given) const { return narrow(or_tight(given, r.trans == op::none ? r.n : r.k)); }

  // Imaginary parts of a Hermitian diagonal must have no effect, and must be 0 in the result.
  void make_diagonal_real() const noexcept {
    if (is_hermitian<R>)
      for (std::int64_t j = 0; j < n; ++j) make_real(c[j * (ldc + 1)]);
  }
  // Scales C if needed, and calls add(*this), which runs the routine.
  template <class Add>
  result<void> run(Add&& add) {
    TROUPE_TRY(fits(r));
    make_diagonal_real();
    const auto scaling = [this] { scale(r.uplo, c, n, ldc, beta); };
    if (alpha == alpha_type(0)) {
      scaling();
      return {};
    }
    beta = scaled_here(beta, scaling);
    add(*this);
    make_diagonal_real();
    return {};
  }
};

// Updates of rank k and 2k.
template <class T, class R, class Routine>
static result<void> update_by_routine(const R& r, Routine routine) {
  return update<T, R>{r}.run([&](const auto& u) {
    const auto with = [&](auto... b) {
      routine(CblasColMajor, code(r.uplo), code(r.trans), narrow(r.n), narrow(r.k), cblas_scalar(u.alpha), r.a.data(),
              u.ld(r.lda), b..., cblas_scalar(u.beta), u.c, narrow(u.ldc));
    };
    if constexpr (requires { r.b; })
      with(r.b.data(), u.ld(r.ldb));
    else
      with();
  });
}
TROUPE_COMPUTED_BY(update_by_routine, TROUPE_CBLAS, syrk, syr2k)
TROUPE_COMPUTED_BY(update_by_routine, TROUPE_CBLAS_COMPLEX, herk, her2k)

// Computes one triangle of a product, by blocks of columns. The part outside of the diagonal block is a product; the
// diagonal block is computed in full, in a buffer, from which its triangle is added to C.
template <class T, class R>
static result<void> triangle_of_product(const R& r, std::nullptr_t) {
  constexpr std::int64_t block = 128;
  const op turn = is_hermitian<R> ? op::conjugate_transpose : op::transpose;
  const bool transposed = r.trans != op::none;
  return update<T, R>{r}.run([&](const auto& u) {
    // Scales by beta as given, which is real if C is Hermitian: a complex beta with an imaginary part of 0 would turn
    // infinities into NaN.
    scale(r.uplo, u.c, u.n, u.ldc, u.beta);
    const std::int64_t lda = u.ld(r.lda), ldb = u.ld(r.ldb), most = std::min(block, u.n);
    const std::unique_ptr<T[]> diagonal_block(new T[static_cast<std::size_t>(most * most)]);
    // Multiplies rows [i, i + m) of op(A) by the transposed rows [j, j + n) of op(B).
    const auto part = [&](std::int64_t i, std::int64_t m, std::int64_t j, std::int64_t n, T beta, T* c,
                          std::int64_t ldc) {
      multiply(matrix_product<T, T>{.trans_a = r.trans,
                                    .trans_b = transposed ? op::none : turn,
                                    .m = m,
                                    .n = n,
                                    .k = r.k.value(),
                                    .alpha = u.alpha,
                                    .beta = beta,
                                    .a = r.a.data() + (transposed ? i * lda : i),
                                    .lda = lda,
                                    .b = r.b.data() + (transposed ? j * ldb : j),
                                    .ldb = ldb,
                                    .c = c,
                                    .ldc = ldc});
    };
    for (std::int64_t j = 0; j < u.n; j += block) {
      const std::int64_t n = std::min(block, u.n - j);
      part(j, n, j, n, T(0), diagonal_block.get(), n);
      for (std::int64_t l = 0; l < n; ++l) {
        const auto [first, last] = rows_of(r.uplo, n, l);
        T* const column = u.c + j + (j + l) * u.ldc;
        for (std::int64_t i = first; i < last; ++i) column[i] = sum(column[i], diagonal_block[i + l * n]);
      }
      const std::int64_t row = r.uplo == triangle::lower ? j + n : 0,
                         rows = r.uplo == triangle::lower ? u.n - j - n : j;
      if (rows > 0) part(row, rows, j, n, T(1), u.c + row + j * u.ldc, u.ldc);
    }
  });
}
TROUPE_COMPUTED_BY(triangle_of_product, TROUPE_NO_ROUTINE, syrkx, herkx)

// Computes in place, in `x`.
template <class T, class R, class Routine>
static result<void> triangular(const R& r, T* x, std::int64_t ldx, Routine routine) {
  const T alpha = r.alpha.load();
  if (alpha == T(0))
    scale(x, r.m.value(), r.n.value(), ldx, T(0));
  else
    routine(CblasColMajor, code(r.side), code(r.uplo), code(r.trans), code(r.diag), narrow(r.m), narrow(r.n),
            cblas_scalar(alpha), r.a.data(), narrow(or_tight(r.lda, r.side == side::left ? r.m : r.n)), x, narrow(ldx));
  return {};
}
template <class T>
static result<void> compute(const trmm<T>& r) {
  TROUPE_TRY(fits(r));
  const std::int64_t ldb = or_tight(r.ldb, r.m).value(), ldc = or_tight(r.ldc, r.m).value();
  if (r.b.data() != r.c.data())
    for (std::int64_t j = 0; j < r.n.value(); ++j) std::copy_n(r.b.data() + j * ldb, r.m.value(), r.c.data() + j * ldc);
  return triangular(r, r.c.data(), ldc, TROUPE_CBLAS(trmm));
}
template <class T>
static result<void> compute(const trsm<T>& r) {
  TROUPE_TRY(fits(r));
  return triangular(r, r.b.data(), or_tight(r.ldb, r.m).value(), TROUPE_CBLAS(trsm));
}

operations level3_operations() noexcept { return operations_of<openblas, all_level3>(); }

}  // namespace troupe::blas
