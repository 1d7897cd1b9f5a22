// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <troupe/cutlass/cells/candidates.hpp>
#include <troupe/cutlass/convolution_problem.hpp>
#include <troupe/cutlass/vendor/cells.hpp>

/// Plans of CUTLASS's kernels. Needs no GPU.
namespace troupe::cutlass {

/// What a kernel of CUTLASS makes of a product: alpha * product + beta * c, with a bias for each column, and gelu_tanh
/// of all.
struct vendor_epilogue {
  std::uint8_t alpha = whole_form::one, beta = whole_form::one;  ///< which numbers of the request
  float alpha_sign = 1, beta_sign = 1;
  std::int8_t c = -1, bias = -1;  ///< which operands in memory; -1: none
  bool gelu = false;
};
/// Returns nothing if the epilogue is another.
std::optional<vendor_epilogue> vendor_epilogue_of(const whole_form& f);

/// Returns the plans of the kernels that can compute this. If there are none, `why_not` has what the kernel that fits
/// best cannot do.
other_plans vendor_plans_of(const problem& p, const whole_form& f, const chip& on, const plan& wanted,
                            const vendor::cells& from);
other_plans vendor_plans_of(const convolution_problem& p, const chip& on, const plan& wanted,
                            const vendor::cells& from);

/// Returns the result of a convolution as a product's, whose form has the epilogue of the convolution.
problem as_product(const convolution_problem& p);

/// Returns true if no line reaches into the next one, and no operand of columns differs from product to product.
/// Kernels of CUTLASS compute nothing else, and the forms of products do not tell.
bool has_lines_apart(const problem& p) noexcept;

}  // namespace troupe::cutlass
