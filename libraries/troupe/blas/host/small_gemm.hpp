// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Products so small that a library's overhead costs about as much as the product. They are computed by a kernel of our
/// own, which is compiled for several kinds of processor.
///
/// This header is included by code compiled for processors that may differ from this one. So neither it nor its
/// includes may contain inline functions: the linker keeps one copy of each, and that copy may not run here.
namespace troupe::blas {

/// C = alpha * op(A) * op(B) + beta * C, all column-major; alpha is not 0.
template <class T>
struct small_product {
  bool turn_a, turn_b;  ///< whether op transposes
  std::int64_t m, n, k;
  T alpha, beta;
  const T* a;
  std::int64_t lda;
  const T* b;
  std::int64_t ldb;
  T* c;
  std::int64_t ldc;
};

/// A small product has no larger m, n or k than this.
inline constexpr std::int64_t small_extent = 64;

/// Computes the product, or returns false if OpenBLAS with the right kernels for this processor is faster at its shape.
/// The choice depends on the shape alone, so equal products have the same bits.
bool multiply_small(const small_product<float>& p) noexcept;
bool multiply_small(const small_product<double>& p) noexcept;

/// One version for each kind of processor.
bool multiply_small_avx512(const small_product<float>& p) noexcept;
bool multiply_small_avx512(const small_product<double>& p) noexcept;
bool multiply_small_avx2(const small_product<float>& p) noexcept;
bool multiply_small_avx2(const small_product<double>& p) noexcept;
bool multiply_small_anywhere(const small_product<float>& p) noexcept;
bool multiply_small_anywhere(const small_product<double>& p) noexcept;

}  // namespace troupe::blas
