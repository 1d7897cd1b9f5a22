// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compiled for x86-64-v4, for which OpenBLAS has good kernels for small products; docs/measurements.md compares both.
#include <troupe/blas/host/small_gemm/small_gemm_kernel.hpp>

namespace troupe::blas {
namespace {

template <class T>
bool is_ours(const small_product<T>& p) noexcept {
  constexpr std::int64_t all = lanes<T, widest>, few = 32;
  // If A is transposed and B is not, OpenBLAS computes each element as a product of two vectors, which is faster for
  // few elements.
  if (p.turn_a && !p.turn_b) return p.k < few || (p.m >= 8 && p.n >= 8);
  if (p.m > few || p.n > few || p.k > few) return false;
  // If both are transposed, OpenBLAS's vectors lie along the rows of C, which is fastest if they are full.
  if (p.turn_a) return p.n % all == 0 ? p.n * p.k <= 4 * p.m : 2 * p.m >= all || p.n * p.k <= 16 * p.m;
  return p.m >= all || p.n * p.k <= 32 * p.m;
}

template <class T>
bool multiply(const small_product<T>& p) noexcept {
  if (!is_ours(p)) return false;
  multiply_now(p);
  return true;
}

}  // namespace

bool multiply_small_avx512(const small_product<float>& p) noexcept { return multiply(p); }
bool multiply_small_avx512(const small_product<double>& p) noexcept { return multiply(p); }

}  // namespace troupe::blas
