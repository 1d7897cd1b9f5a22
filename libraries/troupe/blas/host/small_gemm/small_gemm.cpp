// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/blas/host/small_gemm/small_gemm.hpp>

namespace troupe::blas {
namespace {

template <class T>
using kernel = bool (*)(const small_product<T>&) noexcept;

template <class T>
kernel<T> kernel_for_this_processor() noexcept {
#ifdef __x86_64__
  if (__builtin_cpu_supports("x86-64-v4")) return multiply_small_avx512;
  if (__builtin_cpu_supports("x86-64-v3")) return multiply_small_avx2;
#endif
  return multiply_small_anywhere;
}

const kernel<float> of_float = kernel_for_this_processor<float>();
const kernel<double> of_double = kernel_for_this_processor<double>();

}  // namespace

bool multiply_small(const small_product<float>& p) noexcept { return of_float(p); }
bool multiply_small(const small_product<double>& p) noexcept { return of_double(p); }

}  // namespace troupe::blas
