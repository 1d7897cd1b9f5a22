// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cblas.h>

#include <troupe/blas/elements.hpp>
#include <troupe/blas/options.hpp>

/// OpenBLAS's routines by element type.
extern "C" {
// What OpenBLAS exports and cblas.h does not name: complex rotations and symmetric matrices, and LAPACK.
#define TROUPE_DECLARE_COMPLEX(P, T)                                                                                 \
  void P##symv_(const char*, const blasint*, const T*, const T*, const blasint*, const T*, const blasint*, const T*, \
                T*, const blasint*);                                                                                 \
  void P##syr_(const char*, const blasint*, const T*, const T*, const blasint*, T*, const blasint*);                 \
  void P##syr2_(const char*, const blasint*, const T*, const T*, const blasint*, const T*, const blasint*, T*,       \
                const blasint*);                                                                                     \
  void P##rot_(const blasint*, T*, const blasint*, T*, const blasint*, const troupe::real_of<T>*, const T*);
TROUPE_DECLARE_COMPLEX(c, troupe::complex64)
TROUPE_DECLARE_COMPLEX(z, troupe::complex128)
#undef TROUPE_DECLARE_COMPLEX

#define TROUPE_DECLARE_LAPACK(P, T)                                                                                   \
  void P##getrf_(const blasint*, const blasint*, T*, const blasint*, blasint*, blasint*);                             \
  void P##getrs_(const char*, const blasint*, const blasint*, const T*, const blasint*, const blasint*, T*,           \
                 const blasint*, blasint*, std::size_t);                                                              \
  void P##getri_(const blasint*, T*, const blasint*, const blasint*, T*, const blasint*, blasint*);                   \
  void P##geqrf_(const blasint*, const blasint*, T*, const blasint*, T*, T*, const blasint*, blasint*);               \
  void P##trtrs_(const char*, const char*, const char*, const blasint*, const blasint*, const T*, const blasint*, T*, \
                 const blasint*, blasint*, std::size_t, std::size_t, std::size_t);
TROUPE_DECLARE_LAPACK(s, float)
TROUPE_DECLARE_LAPACK(d, double)
TROUPE_DECLARE_LAPACK(c, troupe::complex64)
TROUPE_DECLARE_LAPACK(z, troupe::complex128)
#undef TROUPE_DECLARE_LAPACK

#define TROUPE_DECLARE_APPLY_Q(NAME, T)                                                                         \
  void NAME(const char*, const char*, const blasint*, const blasint*, const blasint*, const T*, const blasint*, \
            const T*, T*, const blasint*, T*, const blasint*, blasint*, std::size_t, std::size_t);
TROUPE_DECLARE_APPLY_Q(sormqr_, float)
TROUPE_DECLARE_APPLY_Q(dormqr_, double)
TROUPE_DECLARE_APPLY_Q(cunmqr_, troupe::complex64)
TROUPE_DECLARE_APPLY_Q(zunmqr_, troupe::complex128)
#undef TROUPE_DECLARE_APPLY_Q
}

namespace troupe::blas {

/// routines<float>::gemm is cblas_sgemm, and so on.
template <class T>
struct routines;

// clang-format off
#define TROUPE_ROUTINES_OF_ALL(P)                 \
  static constexpr auto axpy = cblas_##P##axpy;   \
  static constexpr auto scal = cblas_##P##scal;   \
  static constexpr auto copy = cblas_##P##copy;   \
  static constexpr auto swap = cblas_##P##swap;   \
  static constexpr auto gemv = cblas_##P##gemv;   \
  static constexpr auto gbmv = cblas_##P##gbmv;   \
  static constexpr auto trmv = cblas_##P##trmv;   \
  static constexpr auto trsv = cblas_##P##trsv;   \
  static constexpr auto tbmv = cblas_##P##tbmv;   \
  static constexpr auto tbsv = cblas_##P##tbsv;   \
  static constexpr auto tpmv = cblas_##P##tpmv;   \
  static constexpr auto tpsv = cblas_##P##tpsv;   \
  static constexpr auto gemm = cblas_##P##gemm;   \
  static constexpr auto symm = cblas_##P##symm;   \
  static constexpr auto syrk = cblas_##P##syrk;   \
  static constexpr auto syr2k = cblas_##P##syr2k; \
  static constexpr auto trmm = cblas_##P##trmm;   \
  static constexpr auto trsm = cblas_##P##trsm;   \
  static constexpr auto getrf = P##getrf_;        \
  static constexpr auto getrs = P##getrs_;        \
  static constexpr auto getri = P##getri_;        \
  static constexpr auto geqrf = P##geqrf_;        \
  static constexpr auto trtrs = P##trtrs_;
#define TROUPE_ROUTINES_OF_REAL(P)                \
  static constexpr auto apply_q = P##ormqr_;      \
  static constexpr auto dot = cblas_##P##dot;     \
  static constexpr auto nrm2 = cblas_##P##nrm2;   \
  static constexpr auto asum = cblas_##P##asum;   \
  static constexpr auto rot = cblas_##P##rot;     \
  static constexpr auto rotm = cblas_##P##rotm;   \
  static constexpr auto rotmg = cblas_##P##rotmg; \
  static constexpr auto symv = cblas_##P##symv;   \
  static constexpr auto sbmv = cblas_##P##sbmv;   \
  static constexpr auto spmv = cblas_##P##spmv;   \
  static constexpr auto ger = cblas_##P##ger;     \
  static constexpr auto syr = cblas_##P##syr;     \
  static constexpr auto spr = cblas_##P##spr;     \
  static constexpr auto syr2 = cblas_##P##syr2;   \
  static constexpr auto spr2 = cblas_##P##spr2;
#define TROUPE_ROUTINES_OF_COMPLEX(P)                                           \
  static constexpr auto apply_q = P##unmqr_;                                    \
  static constexpr auto hemv = cblas_##P##hemv;                                 \
  static constexpr auto hbmv = cblas_##P##hbmv;                                 \
  static constexpr auto hpmv = cblas_##P##hpmv;                                 \
  static constexpr auto geru = cblas_##P##geru;                                 \
  static constexpr auto gerc = cblas_##P##gerc;                                 \
  static constexpr auto her = cblas_##P##her;                                   \
  static constexpr auto hpr = cblas_##P##hpr;                                   \
  static constexpr auto her2 = cblas_##P##her2;                                 \
  static constexpr auto hpr2 = cblas_##P##hpr2;                                 \
  static constexpr auto hemm = cblas_##P##hemm;                                 \
  static constexpr auto herk = cblas_##P##herk;                                 \
  static constexpr auto her2k = cblas_##P##her2k;                               \
  static constexpr auto dotu = cblas_##P##dotu_sub, dotc = cblas_##P##dotc_sub; \
  static constexpr auto rot = P##rot_;                                          \
  static constexpr auto symv = P##symv_;                                        \
  static constexpr auto syr = P##syr_;                                          \
  static constexpr auto syr2 = P##syr2_;
// clang-format on

template <>
struct routines<float> {
  TROUPE_ROUTINES_OF_ALL(s)
  TROUPE_ROUTINES_OF_REAL(s)
};
template <>
struct routines<double> {
  TROUPE_ROUTINES_OF_ALL(d)
  TROUPE_ROUTINES_OF_REAL(d)
};
template <>
struct routines<complex64> {
  TROUPE_ROUTINES_OF_ALL(c)
  TROUPE_ROUTINES_OF_COMPLEX(c)
  static constexpr auto nrm2 = cblas_scnrm2;
  static constexpr auto real_scal = cblas_csscal;
  static constexpr auto real_rot = cblas_csrot;
};
template <>
struct routines<complex128> {
  TROUPE_ROUTINES_OF_ALL(z)
  TROUPE_ROUTINES_OF_COMPLEX(z)
  static constexpr auto nrm2 = cblas_dznrm2;
  static constexpr auto real_scal = cblas_zdscal;
  static constexpr auto real_rot = cblas_zdrot;
};
#undef TROUPE_ROUTINES_OF_ALL
#undef TROUPE_ROUTINES_OF_REAL
#undef TROUPE_ROUTINES_OF_COMPLEX

/// A number as cblas.h takes it: real ones by value, complex ones by address.
inline float by(const float& v) noexcept { return v; }
inline double by(const double& v) noexcept { return v; }
inline const void* by(const complex64& v) noexcept { return &v; }
inline const void* by(const complex128& v) noexcept { return &v; }

inline CBLAS_TRANSPOSE code(op o) noexcept {
  if (o == op::none) return CblasNoTrans;
  return o == op::transpose ? CblasTrans : CblasConjTrans;
}
inline CBLAS_UPLO code(triangle t) noexcept { return t == triangle::lower ? CblasLower : CblasUpper; }
inline CBLAS_SIDE code(side s) noexcept { return s == side::left ? CblasLeft : CblasRight; }
inline CBLAS_DIAG code(diagonal d) noexcept { return d == diagonal::unit ? CblasUnit : CblasNonUnit; }
/// The same for LAPACK.
inline char letter(op o) noexcept { return "NTC"[static_cast<int>(o)]; }
inline char letter(triangle t) noexcept { return t == triangle::lower ? 'L' : 'U'; }

}  // namespace troupe::blas
