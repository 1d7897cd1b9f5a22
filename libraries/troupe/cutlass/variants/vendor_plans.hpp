// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/cutlass/convolution_problem.hpp>
#include <troupe/cutlass/variants/candidates.hpp>
#include <troupe/cutlass/vendor/variants.hpp>

/// Plans of CUTLASS's kernels. Needs no GPU.
namespace troupe::cutlass {

/// An epilogue that kernels of CUTLASS can compute: alpha * product + beta * c, with a bias for each column, and
/// gelu_tanh of all.
struct vendor_epilogue {
  std::uint8_t alpha = kernel_signature::one, beta = kernel_signature::one;  ///< numbers of the request
  float alpha_sign = 1, beta_sign = 1;
  std::int8_t c = -1, bias = -1;  ///< operands in memory; -1: none
  bool gelu = false;
};
/// Returns nothing if the epilogue is another.
std::optional<vendor_epilogue> vendor_epilogue_of(const kernel_signature& f);

/// Returns the plans of the kernels that can compute this. If there are none, `why_not` is the limit that excludes the
/// kernel that fits best.
other_plans vendor_plans_of(const problem& p, const kernel_signature& f, const gpu_properties& gpu, const plan& wanted,
                            const vendor::kernel_variants& from);
other_plans vendor_plans_of(const convolution_problem& p, const gpu_properties& gpu, const plan& wanted,
                            const vendor::kernel_variants& from);

/// Returns the result of a convolution as a product's, whose signature has the epilogue of the convolution.
problem as_product(const convolution_problem& p);

/// Returns true if no line overlaps the next one, and no operand of columns differs from product to product. Kernels of
/// CUTLASS compute nothing else, and signatures of products do not say.
bool has_lines_apart(const problem& p) noexcept;

}  // namespace troupe::cutlass
