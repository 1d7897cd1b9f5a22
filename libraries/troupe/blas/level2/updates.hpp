// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/blas/elements.hpp>
#include <troupe/blas/family_checks.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>

/// Updates of a matrix by vectors: A = alpha * x * y' + A and its variants. If alpha == 0, the contents of x and y have
/// no effect. Of symmetric and Hermitian matrices only the triangle that `uplo` names is touched; the imaginary parts
/// of a Hermitian diagonal count as 0 and become 0. *Packed* triangles are stored
/// as <troupe/blas/level2/level2.hpp> says.
namespace troupe::blas {

template <class T, fixed_string Name, bool HasElements>
struct general_update {
  static_assert(HasElements, "blas has ger of float and double, geru and gerc of complex64 and complex128");
  in<T> x, y;
  inout<T> a;
  extent m, n;
  scalar<T> alpha = 1;
  extent lda = tight;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST(static_text<Name>, x, y, a, m, n, alpha, lda, incx, incy)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// A = alpha * x * transpose(y) + A, where A is m by n.   cublasSger / cblas_sger
template <class T>
using ger = general_update<T, "blas.ger", is_real<T>>;
/// A = alpha * x * transpose(y) + A, where A is m by n.   cublasCgeru / cblas_cgeru
template <class T>
using geru = general_update<T, "blas.geru", is_complex<T>>;
/// A = alpha * x * conj(transpose(y)) + A, where A is m by n.   cublasCgerc / cblas_cgerc
template <class T>
using gerc = general_update<T, "blas.gerc", is_complex<T>>;

template <class T, fixed_string Name, bool HasElements>
struct rank_1_update {
  static_assert(HasElements, "blas has syr of float, double, complex64 and complex128, her of the complex types");
  in<T> x;
  inout<T> a;
  extent n;
  triangle uplo = triangle::lower;
  scalar<factor_of<T, Name>> alpha = 1;
  extent lda = tight;
  extent incx = 1;
  TROUPE_REQUEST(static_text<Name>, x, a, n, uplo, alpha, lda, incx)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// A = alpha * x * transpose(x) + A, symmetric.   cublasSsyr / cblas_ssyr
template <class T>
using syr = rank_1_update<T, "blas.syr", is_full<T>>;
/// A = alpha * x * conj(transpose(x)) + A, Hermitian; alpha is real.   cublasCher / cblas_cher
template <class T>
using her = rank_1_update<T, "blas.her", is_complex<T>>;

template <class T, fixed_string Name, bool HasElements>
struct rank_2_update {
  static_assert(HasElements, "blas has syr2 of float, double, complex64 and complex128, her2 of the complex types");
  in<T> x, y;
  inout<T> a;
  extent n;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1;
  extent lda = tight;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST(static_text<Name>, x, y, a, n, uplo, alpha, lda, incx, incy)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// A = alpha * (x * transpose(y) + y * transpose(x)) + A, symmetric.   cublasSsyr2 / cblas_ssyr2
template <class T>
using syr2 = rank_2_update<T, "blas.syr2", is_full<T>>;
/// A = alpha * x * conj(transpose(y)) + conj(alpha) * y * conj(transpose(x)) + A, Hermitian.
///   cublasCher2 / cblas_cher2
template <class T>
using her2 = rank_2_update<T, "blas.her2", is_complex<T>>;

template <class T, fixed_string Name, bool HasElements>
struct packed_rank_1_update {
  static_assert(HasElements, "blas has spr of float and double, hpr of complex64 and complex128");
  in<T> x;
  inout<T> a;
  extent n;
  triangle uplo = triangle::lower;
  scalar<factor_of<T, Name>> alpha = 1;
  extent incx = 1;
  TROUPE_REQUEST(static_text<Name>, x, a, n, uplo, alpha, incx)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// syr with a packed matrix.   cublasSspr / cblas_sspr
template <class T>
using spr = packed_rank_1_update<T, "blas.spr", is_real<T>>;
/// her with a packed matrix.   cublasChpr / cblas_chpr
template <class T>
using hpr = packed_rank_1_update<T, "blas.hpr", is_complex<T>>;

template <class T, fixed_string Name, bool HasElements>
struct packed_rank_2_update {
  static_assert(HasElements, "blas has spr2 of float and double, hpr2 of complex64 and complex128");
  in<T> x, y;
  inout<T> a;
  extent n;
  triangle uplo = triangle::lower;
  scalar<T> alpha = 1;
  extent incx = 1, incy = 1;
  TROUPE_REQUEST(static_text<Name>, x, y, a, n, uplo, alpha, incx, incy)
  void check(checker& c) const { detail::check_update(*this, c); }
};

/// syr2 with a packed matrix.   cublasSspr2 / cblas_sspr2
template <class T>
using spr2 = packed_rank_2_update<T, "blas.spr2", is_real<T>>;
/// her2 with a packed matrix.   cublasChpr2 / cblas_chpr2
template <class T>
using hpr2 = packed_rank_2_update<T, "blas.hpr2", is_complex<T>>;

using all_updates = joined_requests<requests_for<full_types, syr, syr2>, requests_for<real_types, ger, spr, spr2>,
                                    requests_for<complex_types, geru, gerc, her, hpr, her2, hpr2>>;

}  // namespace troupe::blas
