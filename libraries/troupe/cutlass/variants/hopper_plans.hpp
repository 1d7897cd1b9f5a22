// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/candidates.hpp>
#include <troupe/cutlass/variants/convolutions/convolution_signature.hpp>
#include <troupe/cutlass/variants/hopper_variant.hpp>

namespace troupe::cutlass {

/// Adds the plans of the template for Hopper to `to`. Returns the reason if there are none, or "".
std::string add_hopper_plans(const kernel_signature& f, const extents& e, const cuda::gpu_properties& gpu,
                             const plan& wanted, std::vector<candidate>& to);
/// Adds the plans for a convolution whose image the accelerator gathers. `launches` are the extents of its products,
/// with k as copied: see `product_as_copied`. `reuse` is the number of times that each element of the image is used.
std::string add_hopper_plans(const convolution_signature& f, std::vector<extents> launches, double reuse,
                             const cuda::gpu_properties& gpu, const plan& wanted, std::vector<candidate>& to);

/// Returns the template arguments for a plan. `f` is the signature of the kernel: see `signature_of_kernel`.
hopper_variant hopper_variant_of(const kernel_signature& f, const plan& p);
hopper_variant hopper_variant_of(const convolution_signature& f, const plan& p);

}  // namespace troupe::cutlass
