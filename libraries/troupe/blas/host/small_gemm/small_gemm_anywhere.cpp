// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compiled for every processor. OpenBLAS uses AVX, and this code does not, so it computes only the smallest products.
#include <troupe/blas/host/small_gemm/small_gemm_kernel.hpp>

namespace troupe::blas {
namespace {

template <class T>
bool multiply(const small_product<T>& p) noexcept {
  constexpr std::int64_t few = 16, little = sizeof(T) == 4 ? few : 10, little_work = little * little * little;
  if (p.m > few || p.n > few || p.k > few || p.m * p.n * p.k > little_work) return false;
  multiply_now(p);
  return true;
}

}  // namespace

bool multiply_small_anywhere(const small_product<float>& p) noexcept { return multiply(p); }
bool multiply_small_anywhere(const small_product<double>& p) noexcept { return multiply(p); }

}  // namespace troupe::blas
