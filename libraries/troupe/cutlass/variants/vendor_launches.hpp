// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cells/vendor_plans.hpp>

/// What a kernel of CUTLASS is told of a problem.
namespace troupe::cutlass {

/// Of a product whose D has neighbours in its rows: swapped, if the plan is. `f` is the form of the request.
vendor::launch launch_of(const vendor::cell& c, const problem& p, const whole_form& f, const vendor_epilogue& e);
/// Of a convolution of at most two spatial indexes, whose tensors are packed. `f` is the form of `as_product`.
vendor::launch launch_of(const convolution_problem& p, const whole_form& f, const vendor_epilogue& e);

/// The place of an operand of the epilogue.
placed_matrix operand_of(const problem& p, const whole_form& f, std::int8_t which);

}  // namespace troupe::cutlass
