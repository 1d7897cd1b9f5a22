// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cublas_v2.h>

#include <troupe/blas/elements.hpp>
#include <troupe/blas/options.hpp>
#include <type_traits>

/// cuBLAS's routines by element type, and its words for our options.
namespace troupe::blas {

/// A routine with its name, for texts. It takes our types where it has its own of the same layout.
template <class F>
struct routine {
  F* function;
  const char* name;
};

/// routines<float>::gemv is cublasSgemv_64, and so on.
template <class T>
struct routines;

#define TROUPE_ROUTINE(NAME, SYMBOL) static constexpr routine NAME{&SYMBOL, #SYMBOL};
#define TROUPE_ROUTINES_OF_ALL(P)                                        \
  TROUPE_ROUTINE(axpy, cublas##P##axpy_64)                               \
  TROUPE_ROUTINE(scal, cublas##P##scal_64)                               \
  TROUPE_ROUTINE(copy, cublas##P##copy_64)                               \
  TROUPE_ROUTINE(swap, cublas##P##swap_64)                               \
  TROUPE_ROUTINE(rot, cublas##P##rot_64)                                 \
  TROUPE_ROUTINE(gemv, cublas##P##gemv_64)                               \
  TROUPE_ROUTINE(gbmv, cublas##P##gbmv_64)                               \
  TROUPE_ROUTINE(symv, cublas##P##symv_64)                               \
  TROUPE_ROUTINE(trmv, cublas##P##trmv_64)                               \
  TROUPE_ROUTINE(trsv, cublas##P##trsv_64)                               \
  TROUPE_ROUTINE(tbmv, cublas##P##tbmv_64)                               \
  TROUPE_ROUTINE(tbsv, cublas##P##tbsv_64)                               \
  TROUPE_ROUTINE(tpmv, cublas##P##tpmv_64)                               \
  TROUPE_ROUTINE(tpsv, cublas##P##tpsv_64)                               \
  TROUPE_ROUTINE(syr, cublas##P##syr_64)                                 \
  TROUPE_ROUTINE(syr2, cublas##P##syr2_64)                               \
  TROUPE_ROUTINE(symm, cublas##P##symm_64)                               \
  TROUPE_ROUTINE(syrk, cublas##P##syrk_64)                               \
  TROUPE_ROUTINE(syr2k, cublas##P##syr2k_64)                             \
  TROUPE_ROUTINE(syrkx, cublas##P##syrkx_64)                             \
  TROUPE_ROUTINE(trmm, cublas##P##trmm_64)                               \
  TROUPE_ROUTINE(trsm, cublas##P##trsm_64)                               \
  TROUPE_ROUTINE(geam, cublas##P##geam_64)                               \
  TROUPE_ROUTINE(gemv_batched, cublas##P##gemvBatched_64)                \
  TROUPE_ROUTINE(gemv_strided_batched, cublas##P##gemvStridedBatched_64) \
  TROUPE_ROUTINE(trsm_batched, cublas##P##trsmBatched_64)                \
  TROUPE_ROUTINE(getrf_batched, cublas##P##getrfBatched)                 \
  TROUPE_ROUTINE(getrs_batched, cublas##P##getrsBatched)                 \
  TROUPE_ROUTINE(getri_batched, cublas##P##getriBatched)                 \
  TROUPE_ROUTINE(matinv_batched, cublas##P##matinvBatched)               \
  TROUPE_ROUTINE(geqrf_batched, cublas##P##geqrfBatched)                 \
  TROUPE_ROUTINE(gels_batched, cublas##P##gelsBatched)

#define TROUPE_ROUTINES_OF_REAL(T, P)        \
  template <>                                \
  struct routines<T> {                       \
    TROUPE_ROUTINES_OF_ALL(P)                \
    TROUPE_ROUTINE(asum, cublas##P##asum_64) \
    TROUPE_ROUTINE(dot, cublas##P##dot_64)   \
    TROUPE_ROUTINE(rotm, cublas##P##rotm_64) \
    TROUPE_ROUTINE(sbmv, cublas##P##sbmv_64) \
    TROUPE_ROUTINE(spmv, cublas##P##spmv_64) \
    TROUPE_ROUTINE(ger, cublas##P##ger_64)   \
    TROUPE_ROUTINE(spr, cublas##P##spr_64)   \
    TROUPE_ROUTINE(spr2, cublas##P##spr2_64) \
  };

// Three names say both the complex and the real type.
#define TROUPE_ROUTINES_OF_COMPLEX(T, P, ASUM, SCAL, ROT) \
  template <>                                             \
  struct routines<T> {                                    \
    TROUPE_ROUTINES_OF_ALL(P)                             \
    TROUPE_ROUTINE(asum, cublas##ASUM##_64)               \
    TROUPE_ROUTINE(real_scal, cublas##SCAL##_64)          \
    TROUPE_ROUTINE(real_rot, cublas##ROT##_64)            \
    TROUPE_ROUTINE(dotu, cublas##P##dotu_64)              \
    TROUPE_ROUTINE(dotc, cublas##P##dotc_64)              \
    TROUPE_ROUTINE(hemv, cublas##P##hemv_64)              \
    TROUPE_ROUTINE(hbmv, cublas##P##hbmv_64)              \
    TROUPE_ROUTINE(hpmv, cublas##P##hpmv_64)              \
    TROUPE_ROUTINE(geru, cublas##P##geru_64)              \
    TROUPE_ROUTINE(gerc, cublas##P##gerc_64)              \
    TROUPE_ROUTINE(her, cublas##P##her_64)                \
    TROUPE_ROUTINE(hpr, cublas##P##hpr_64)                \
    TROUPE_ROUTINE(her2, cublas##P##her2_64)              \
    TROUPE_ROUTINE(hpr2, cublas##P##hpr2_64)              \
    TROUPE_ROUTINE(hemm, cublas##P##hemm_64)              \
    TROUPE_ROUTINE(herk, cublas##P##herk_64)              \
    TROUPE_ROUTINE(her2k, cublas##P##her2k_64)            \
    TROUPE_ROUTINE(herkx, cublas##P##herkx_64)            \
  };

TROUPE_ROUTINES_OF_REAL(float, S)
TROUPE_ROUTINES_OF_REAL(double, D)
TROUPE_ROUTINES_OF_COMPLEX(complex64, C, Scasum, Csscal, Csrot)
TROUPE_ROUTINES_OF_COMPLEX(complex128, Z, Dzasum, Zdscal, Zdrot)
#undef TROUPE_ROUTINES_OF_COMPLEX
#undef TROUPE_ROUTINES_OF_REAL
#undef TROUPE_ROUTINES_OF_ALL
#undef TROUPE_ROUTINE

/// complex64* as cuComplex*, through any number of pointers.
template <class T>
struct vendor_type {
  using type = T;
};
template <>
struct vendor_type<complex64> {
  using type = cuComplex;
};
template <>
struct vendor_type<complex128> {
  using type = cuDoubleComplex;
};
template <class T>
struct vendor_type<const T> {
  using type = const typename vendor_type<T>::type;
};
template <class T>
struct vendor_type<T*> {
  using type = typename vendor_type<T>::type*;
};
static_assert(sizeof(complex64) == sizeof(cuComplex) && sizeof(complex128) == sizeof(cuDoubleComplex));

template <class A>
typename vendor_type<A>::type vendor(A a) noexcept {
  if constexpr (std::is_same_v<typename vendor_type<A>::type, A>)
    return a;
  else
    return reinterpret_cast<typename vendor_type<A>::type>(a);
}

/// For real elements a conjugate is nothing.
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
