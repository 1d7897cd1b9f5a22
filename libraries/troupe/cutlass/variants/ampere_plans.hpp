// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/ampere_variant.hpp>
#include <troupe/cutlass/variants/candidates.hpp>

namespace troupe::cutlass {

/// Adds the plans of the template for sm_80 and newer to `to`. Returns the reason if there are none, or "".
std::string add_ampere_plans(const kernel_signature& f, const extents& e, const cuda::gpu_properties& gpu,
                             const plan& wanted, std::vector<candidate>& to);

/// Sets the cost model's estimate of `c`. `efficiency` is the fraction of the tensor cores' peak within a tile, `reuse`
/// the number of times that each element of the first factor in memory is used.
void estimate(candidate& c, const ampere_variant& variant, const kernel_signature& f, const extents& e,
              const cuda::gpu_properties& gpu, double efficiency, double reuse = 1);

/// Returns a plan of this template. The caller sets `tile_k` and `stages`.
plan ampere_plan(int tile_m, int tile_n, bool swapped, bool divided, const extents& e, const plan& wanted);
/// Returns true if the template multiplies these factors by ordinary arithmetic, not by tensor cores.
bool is_arithmetic(const signature_head& f) noexcept;

/// Returns the template arguments for a plan. `f` is the signature of the kernel: see `signature_of_kernel`.
ampere_variant ampere_variant_of(const kernel_signature& f, const plan& p);

}  // namespace troupe::cutlass
