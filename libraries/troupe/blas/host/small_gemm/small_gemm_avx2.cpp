// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Compiled for x86-64-v3, for which OpenBLAS has no kernels for small products.
#include <troupe/blas/host/small_gemm/small_gemm_kernel.hpp>

namespace troupe::blas {

bool multiply_small_avx2(const small_product<float>& p) noexcept { return multiply_now(p), true; }
bool multiply_small_avx2(const small_product<double>& p) noexcept { return multiply_now(p), true; }

}  // namespace troupe::blas
