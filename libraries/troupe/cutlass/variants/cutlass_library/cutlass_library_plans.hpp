// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/cutlass/problems/convolution_problem.hpp>
#include <troupe/cutlass/variants/candidates.hpp>
#include <troupe/cutlass/vendor/variants.hpp>

/// Plans of the CUTLASS library's kernels. Needs no GPU.
namespace troupe::cutlass {

/// An epilogue that the CUTLASS library can compute: alpha * acc + beta * c + bias, or gelu_tanh of this sum. c is a
/// matrix, bias a row.
struct cutlass_library_epilogue {
  /// Indexes of alpha and beta among the numbers of the request, as in kernel_signature::numbers.
  std::uint8_t alpha = kernel_signature::one, beta = kernel_signature::one;
  float alpha_sign = 1, beta_sign = 1;
  std::int8_t c = -1, bias = -1;  ///< indexes of operands in memory; -1: none
  bool gelu = false;
};
/// Returns the epilogue of a signature; nullopt if the CUTLASS library cannot compute it.
std::optional<cutlass_library_epilogue> cutlass_library_epilogue_of(const kernel_signature& f);

/// Returns the plans of the kernels of `from` that can compute a product or a convolution. If there are none, `why_not`
/// is the limit that excludes the kernel that fits best.
cutlass_library_plans cutlass_library_plans_of(const problem& p, const kernel_signature& f,
                                               const cuda::gpu_properties& gpu, const plan& wanted,
                                               const vendor::kernel_variants& from);
cutlass_library_plans cutlass_library_plans_of(const convolution_problem& p, const cuda::gpu_properties& gpu,
                                               const plan& wanted, const vendor::kernel_variants& from);

/// Returns a product with the result and the epilogue of a convolution; its factors have no meaning.
problem as_product(const convolution_problem& p);

}  // namespace troupe::cutlass
