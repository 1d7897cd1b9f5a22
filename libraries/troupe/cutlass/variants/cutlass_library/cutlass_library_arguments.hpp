// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/cutlass_library/cutlass_library_plans.hpp>

/// Arguments of the CUTLASS library's kernels.
namespace troupe::cutlass {

/// Returns the launch of a product. Rows of D are contiguous: `p` is swapped if the plan is. `f` is the request's
/// signature.
vendor::launch launch_of(const vendor::kernel_variant& c, const problem& p, const kernel_signature& f,
                         const cutlass_library_epilogue& e);
/// Returns the launch of a convolution with at most two spatial axes and dense tensors. `f` is the signature of
/// `as_product(p)`.
vendor::launch launch_of(const convolution_problem& p, const kernel_signature& f, const cutlass_library_epilogue& e);

/// Returns the address and strides of operand `which` of the epilogue.
placed_matrix operand_of(const problem& p, const kernel_signature& f, std::int8_t which);

}  // namespace troupe::cutlass
