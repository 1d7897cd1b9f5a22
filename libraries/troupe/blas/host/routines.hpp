// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cblas.h>

#include <troupe/blas/internal/of_type.hpp>
#include <troupe/blas/options.hpp>

// Functions that OpenBLAS exports but cblas.h does not declare.
extern "C" {
#define TROUPE_DECLARE(P, T)                                                                                         \
  void P##symv_(const char*, const blasint*, const T*, const T*, const blasint*, const T*, const blasint*, const T*, \
                T*, const blasint*);                                                                                 \
  void P##syr_(const char*, const blasint*, const T*, const T*, const blasint*, T*, const blasint*);                 \
  void P##syr2_(const char*, const blasint*, const T*, const T*, const blasint*, const T*, const blasint*, T*,       \
                const blasint*);                                                                                     \
  void P##rot_(const blasint*, T*, const blasint*, T*, const blasint*, const troupe::real_of<T>*, const T*);
TROUPE_DECLARE(c, troupe::complex64)
TROUPE_DECLARE(z, troupe::complex128)
#undef TROUPE_DECLARE
}

namespace troupe::blas {

/// OpenBLAS's routine for elements of the type T that is in scope: TROUPE_CBLAS(gemm) is cblas_sgemm for float. The
/// second macro is for real elements only, the third for complex ones.
#define TROUPE_CBLAS(NAME) of_type<T>(cblas_s##NAME, cblas_d##NAME, cblas_c##NAME, cblas_z##NAME)
#define TROUPE_CBLAS_REAL(NAME) of_type<T>(cblas_s##NAME, cblas_d##NAME, nullptr, nullptr)
#define TROUPE_CBLAS_COMPLEX(NAME) of_type<T>(nullptr, nullptr, cblas_c##NAME, cblas_z##NAME)
/// The routine for requests whose complex version OpenBLAS has for Fortran only: the source defines `complex_symv`,
/// which takes the arguments of cblas.h and calls the Fortran routine.
#define TROUPE_CBLAS_SYMMETRIC(NAME) \
  of_type<T>(cblas_s##NAME, cblas_d##NAME, complex_##NAME<complex64>, complex_##NAME<complex128>)
/// Routines with the Fortran calling convention.
#define TROUPE_FORTRAN(NAME) of_type<T>(s##NAME##_, d##NAME##_, c##NAME##_, z##NAME##_)
#define TROUPE_FORTRAN_COMPLEX(NAME) of_type<T>(nullptr, nullptr, c##NAME##_, z##NAME##_)

/// Returns a factor in the form that cblas.h takes: real ones by value, complex ones by address.
inline float cblas_scalar(const float& v) noexcept { return v; }
inline double cblas_scalar(const double& v) noexcept { return v; }
inline const void* cblas_scalar(const complex64& v) noexcept { return &v; }
inline const void* cblas_scalar(const complex128& v) noexcept { return &v; }

inline CBLAS_TRANSPOSE code(op o) noexcept {
  if (o == op::none) return CblasNoTrans;
  return o == op::transpose ? CblasTrans : CblasConjTrans;
}
inline CBLAS_UPLO code(triangle t) noexcept { return t == triangle::lower ? CblasLower : CblasUpper; }
inline CBLAS_SIDE code(side s) noexcept { return s == side::left ? CblasLeft : CblasRight; }
inline CBLAS_DIAG code(diagonal d) noexcept { return d == diagonal::unit ? CblasUnit : CblasNonUnit; }
/// Returns the LAPACK letter of an option.
inline char letter(op o) noexcept { return "NTC"[static_cast<int>(o)]; }
inline char letter(CBLAS_UPLO t) noexcept { return t == CblasLower ? 'L' : 'U'; }

}  // namespace troupe::blas
