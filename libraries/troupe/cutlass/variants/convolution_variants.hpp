// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/ampere_variant.hpp>
#include <troupe/cutlass/variants/candidates.hpp>
#include <troupe/cutlass/variants/convolution_signature.hpp>
#include <troupe/cutlass/variants/variant_source.hpp>

namespace troupe::cutlass {

/// Appends the plans that can compute this. Returns why there are none, or "". `gathered_taps`: how often each number
/// of the image is used.
std::string add_convolution_plans(const convolution_signature& f, const extents& e, double gathered_taps,
                                  const gpu_properties& gpu, const plan& wanted, std::vector<candidate>& to);

/// Returns the template arguments for a plan.
ampere_variant convolution_variant_of(const convolution_signature& f, const plan& p);

/// Returns the kernel of a complete plan.
variant_source source_of_variant(const convolution_signature& f, const plan& p);

}  // namespace troupe::cutlass
