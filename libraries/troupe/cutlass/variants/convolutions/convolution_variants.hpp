// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/ampere_variant.hpp>
#include <troupe/cutlass/variants/candidates.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_signature.hpp>
#include <troupe/cutlass/variants/variant_source.hpp>

namespace troupe::cutlass {

/// Adds the plans of the template for sm_80 and newer to `to`. Returns the reason if there are none, or "".
/// `gathered_taps` is the number of times that each element of the image is used.
std::string add_convolution_plans(const convolution_signature& f, const extents& e, double gathered_taps,
                                  const cuda::gpu_properties& gpu, const plan& wanted, std::vector<candidate>& to);

/// Returns the template arguments of a plan of the template for sm_80.
ampere_variant convolution_variant_of(const convolution_signature& f, const plan& p);

/// Returns the kernel of a complete plan of either template.
variant_source source_of_variant(const convolution_signature& f, const plan& p);

}  // namespace troupe::cutlass
