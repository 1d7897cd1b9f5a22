// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#include <troupe/blas/internal/of_type.hpp>
#include <troupe/blas/options.hpp>
#include <type_traits>

/// cuBLAS's routines by element type, and cuBLAS's constants for our options.
namespace troupe::blas {

/// A routine and its name for error texts. A call may pass our types in place of cuBLAS's types with the same layout.
template <class F>
struct routine {
  F* function;
  const char* name;
};

/// cuBLAS's routine for elements of the type T that is in scope: TROUPE_CUBLAS(gemv_64) is cublasSgemv_64 for float.
/// The second macro is for real elements only, the third for complex ones.
#define TROUPE_CUBLAS(NAME)                                                                               \
  of_type<T>(TROUPE_ROUTINE(cublasS##NAME), TROUPE_ROUTINE(cublasD##NAME), TROUPE_ROUTINE(cublasC##NAME), \
             TROUPE_ROUTINE(cublasZ##NAME))
#define TROUPE_CUBLAS_REAL(NAME) \
  of_type<T>(TROUPE_ROUTINE(cublasS##NAME), TROUPE_ROUTINE(cublasD##NAME), nullptr, nullptr)
#define TROUPE_CUBLAS_COMPLEX(NAME) \
  of_type<T>(nullptr, nullptr, TROUPE_ROUTINE(cublasC##NAME), TROUPE_ROUTINE(cublasZ##NAME))
#define TROUPE_ROUTINE(SYMBOL) \
  routine { &SYMBOL, #SYMBOL }

/// Converts complex64* to cuComplex*, and pointers to such pointers likewise.
template <class T>
struct vendor_type : std::type_identity<T> {};
template <>
struct vendor_type<complex64> : std::type_identity<cuComplex> {};
template <>
struct vendor_type<complex128> : std::type_identity<cuDoubleComplex> {};
template <class T>
struct vendor_type<const T> : std::type_identity<const typename vendor_type<T>::type> {};
template <class T>
struct vendor_type<T*> : std::type_identity<typename vendor_type<T>::type*> {};
static_assert(sizeof(complex64) == sizeof(cuComplex) && sizeof(complex128) == sizeof(cuDoubleComplex));

template <class A>
typename vendor_type<A>::type vendor(A a) noexcept {
  if constexpr (std::is_same_v<typename vendor_type<A>::type, A>)
    return a;
  else
    return reinterpret_cast<typename vendor_type<A>::type>(a);
}

/// For real elements conjugation does nothing.
template <class T>
cublasOperation_t code(op o) noexcept {
  if (o == op::none) return CUBLAS_OP_N;
  return o == op::conjugate_transpose && is_complex<T> ? CUBLAS_OP_C : CUBLAS_OP_T;
}
inline cublasFillMode_t code(triangle t) noexcept {
  return t == triangle::lower ? CUBLAS_FILL_MODE_LOWER : CUBLAS_FILL_MODE_UPPER;
}
inline cublasSideMode_t code(side s) noexcept { return s == side::left ? CUBLAS_SIDE_LEFT : CUBLAS_SIDE_RIGHT; }
inline cublasDiagType_t code(diagonal d) noexcept {
  return d == diagonal::unit ? CUBLAS_DIAG_UNIT : CUBLAS_DIAG_NON_UNIT;
}

}  // namespace troupe::blas
