// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Products so small that a library's overhead costs about as much as the product. Our own kernel computes them; it is
/// compiled for several kinds of processors.
///
/// Do not define inline functions here or in headers that this includes: sources compiled for different processors
/// include this header, the linker keeps one copy of each inline function, and that copy may not run on this processor.
namespace troupe::blas {

/// C = alpha * op(A) * op(B) + beta * C, all column-major; alpha is not 0.
template <class T>
struct small_product {
  bool turn_a, turn_b;  ///< whether op transposes the matrix
  std::int64_t m, n, k;
  T alpha, beta;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  T* c;
  std::int64_t ldc;
};

/// The largest m, n and k of a small product.
inline constexpr std::int64_t small_extent = 64;

/// Computes the product, or returns false if OpenBLAS, with the kernels for this processor, is faster for its extents.
/// The choice depends on the extents alone, so equal products have the same bits.
bool multiply_small(const small_product<float>& p) noexcept;
bool multiply_small(const small_product<double>& p) noexcept;

/// The versions for the kinds of processors.
bool multiply_small_avx512(const small_product<float>& p) noexcept;
bool multiply_small_avx512(const small_product<double>& p) noexcept;
bool multiply_small_avx2(const small_product<float>& p) noexcept;
bool multiply_small_avx2(const small_product<double>& p) noexcept;
bool multiply_small_anywhere(const small_product<float>& p) noexcept;
bool multiply_small_anywhere(const small_product<double>& p) noexcept;

}  // namespace troupe::blas
