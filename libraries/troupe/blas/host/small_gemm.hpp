// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Products so small that what a library does before it multiplies costs about as much as the product. They are formed
/// by a kernel of our own, which is compiled for several kinds of processor.
///
/// This header is included by code for processors that the one at hand may not be like. So there is no inline function
/// in it, nor in what it includes: the linker keeps one copy of each, and that may be one that does not run here.
namespace troupe::blas {

/// C = alpha * op(A) * op(B) + beta * C, all by columns; alpha is not 0.
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

/// No product with more rows, columns or terms is small.
inline constexpr std::int64_t small_extent = 64;

/// Forms the product, unless OpenBLAS with the right kernels for this processor is faster at its shape: then it answers
/// false. Which it is depends on the shape alone, so equal products have the same bits.
bool multiply_small(const small_product<float>& p) noexcept;
bool multiply_small(const small_product<double>& p) noexcept;

/// Those for one kind of processor each.
bool multiply_small_avx512(const small_product<float>& p) noexcept;
bool multiply_small_avx512(const small_product<double>& p) noexcept;
bool multiply_small_avx2(const small_product<float>& p) noexcept;
bool multiply_small_avx2(const small_product<double>& p) noexcept;
bool multiply_small_anywhere(const small_product<float>& p) noexcept;
bool multiply_small_anywhere(const small_product<double>& p) noexcept;

}  // namespace troupe::blas
