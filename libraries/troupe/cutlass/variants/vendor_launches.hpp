// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/vendor_plans.hpp>

/// Launch parameters of CUTLASS's kernels.
namespace troupe::cutlass {

/// Returns the launch of a product whose D is contiguous in rows: swapped, if the plan is. `f` is the request's
/// signature.
vendor::launch launch_of(const vendor::kernel_variant& c, const problem& p, const kernel_signature& f,
                         const vendor_epilogue& e);
/// Returns the launch of a convolution of at most two spatial axes, whose tensors are packed. `f` is the signature of
/// `as_product`.
vendor::launch launch_of(const convolution_problem& p, const kernel_signature& f, const vendor_epilogue& e);

/// Returns the address and strides of an operand of the epilogue.
placed_matrix operand_of(const problem& p, const kernel_signature& f, std::int8_t which);

}  // namespace troupe::cutlass
