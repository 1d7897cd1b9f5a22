// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/ampere_variant.hpp>
#include <troupe/cutlass/variants/candidates.hpp>

namespace troupe::cutlass {

/// Adds the plans of the template for sm_80 and newer. Returns why there are none, or "".
std::string add_ampere_plans(const kernel_signature& f, const extents& e, const gpu_properties& gpu, const plan& wanted,
                             std::vector<candidate>& to);

/// Fills the cost model's estimate of `c`. `efficiency` is that of the tensor cores within a tile; `reuse`: how often
/// each number of the first factor in memory is used.
void estimate(candidate& c, const ampere_variant& variant, const kernel_signature& f, const extents& e,
              const gpu_properties& gpu, double efficiency, double reuse = 1);

/// Returns a plan of this template; the terms of a stage and the number of stages are left open.
plan ampere_plan(int tile_m, int tile_n, bool swapped, bool divided, const extents& e, const plan& wanted);
/// Returns true if its products are ordinary arithmetic, not those of tensor cores.
bool is_arithmetic(const signature_head& f) noexcept;

/// Returns the template arguments for a plan. `f` is the signature of the kernel: swapped, if the plan is.
ampere_variant ampere_variant_of(const kernel_signature& f, const plan& p);

}  // namespace troupe::cutlass
