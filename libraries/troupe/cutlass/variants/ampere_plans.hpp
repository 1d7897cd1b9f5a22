// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cells/ampere_cell.hpp>
#include <troupe/cutlass/cells/candidates.hpp>

namespace troupe::cutlass {

/// Adds the plans of our template for sm_80 and newer. Returns why there are none, or "".
std::string add_ampere_plans(const whole_form& f, const extents& e, const chip& on, const plan& wanted,
                             std::vector<candidate>& to);

/// Says what the cost model expects of `c`. `efficiency` is that of the tensor cores within a tile; `reuse`: how often
/// each number of the first factor in memory is a term.
void estimate(candidate& c, const ampere_cell& cell, const whole_form& f, const extents& e, const chip& on,
              double efficiency, double reuse = 1);

/// A plan of this template; terms and stages are left open.
plan ampere_plan(int tile_m, int tile_n, bool swapped, bool divided, const extents& e, const plan& wanted);
/// Returns true if its products are ordinary arithmetic, not those of tensor cores.
bool is_arithmetic(const form& f) noexcept;

/// What the template is told for a plan. `f` is the form as the kernel sees it: swapped, if the plan is.
ampere_cell ampere_cell_of(const whole_form& f, const plan& p);

}  // namespace troupe::cutlass
