// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/candidates.hpp>
#include <troupe/cutlass/variants/convolution_signature.hpp>
#include <troupe/cutlass/variants/hopper_variant.hpp>

namespace troupe::cutlass {

/// Adds the plans of the template for Hopper. Returns why there are none, or "".
std::string add_hopper_plans(const kernel_signature& f, const extents& e, const gpu_properties& gpu, const plan& wanted,
                             std::vector<candidate>& to);
/// Adds the plans for a convolution that is gathered, by one launch or several. `reuse`: how often each number of the
/// image is used. Launches have as many terms as are copied.
std::string add_hopper_plans(const convolution_signature& f, std::vector<extents> launches, double reuse,
                             const gpu_properties& gpu, const plan& wanted, std::vector<candidate>& to);

/// Returns the template arguments for a plan. `f` is the signature of the kernel: swapped, if the plan is.
hopper_variant hopper_variant_of(const kernel_signature& f, const plan& p);
hopper_variant hopper_variant_of(const convolution_signature& f, const plan& p);

}  // namespace troupe::cutlass
