// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/blas/elements.hpp>
#include <troupe/blas/family_checks.hpp>
#include <troupe/request/request.hpp>

/// Operations that reduce vectors to one number. The number is the reply; it is also written to `result`, if that is
/// given. Vectors are stored as <troupe/blas/level1/level1.hpp> says.
namespace troupe::blas {

template <class T, fixed_string Name, bool HasElements>
struct inner_product {
  static_assert(HasElements, "blas has dot of float and double, dotu and dotc of complex64 and complex128");
  in<T> x, y;
  extent n;
  extent incx = 1, incy = 1;
  std::optional<out<T>> result = {};
  using reply = T;
  TROUPE_REQUEST(static_text<Name>, x, y, n, incx, incy, result)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// Returns the sum of x[i] * y[i]. x and y may be the same memory.   cublasSdot / cblas_sdot
template <class T>
using dot = inner_product<T, "blas.dot", is_real<T>>;
/// Returns the sum of x[i] * y[i].   cublasCdotu / cblas_cdotu_sub
template <class T>
using dotu = inner_product<T, "blas.dotu", is_complex<T>>;
/// Returns the sum of conj(x[i]) * y[i].   cublasCdotc / cblas_cdotc_sub
template <class T>
using dotc = inner_product<T, "blas.dotc", is_complex<T>>;

template <class T, fixed_string Name>
struct reduction {
  static_assert(is_full<T>, "blas reduces vectors of float, double, complex64 and complex128");
  in<T> x;
  extent n;
  extent incx = 1;
  using reply = std::conditional_t<static_text<Name>.starts_with("blas.ia"), std::int64_t, real_of<T>>;
  std::optional<out<reply>> result = {};
  TROUPE_REQUEST(static_text<Name>, x, n, incx, result)
  void check(checker& c) const { detail::check_vectors(*this, c); }
};

/// Returns the root of the sum of |x[i]|^2, without intermediate overflow or underflow.   cublasSnrm2 / cblas_snrm2
template <class T>
using nrm2 = reduction<T, "blas.nrm2">;
/// Returns the sum of |x[i]|, where |z| of a complex number is |real| + |imag|.   cublasSasum / cblas_sasum
template <class T>
using asum = reduction<T, "blas.asum">;
/// Returns the index, from 0, of the first largest |x[i]|, with |z| as in asum. NaN is ignored; if all elements are
/// NaN, the index is 0.   cublasIsamax (which counts from 1) / cblas_isamax
template <class T>
using iamax = reduction<T, "blas.iamax">;
/// Returns the index of the first smallest |x[i]|, under the same rules.   cublasIsamin / cblas_isamin
template <class T>
using iamin = reduction<T, "blas.iamin">;

}  // namespace troupe::blas
