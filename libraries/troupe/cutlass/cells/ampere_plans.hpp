// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cells/ampere_cell.hpp>
#include <troupe/cutlass/cells/candidates.hpp>

namespace troupe::cutlass {

/// Adds the plans of our template for sm_80 and newer. Returns why there are none, or "".
std::string add_ampere_plans(const whole_form& f, const extents& e, const chip& on, const plan& wanted,
                             std::vector<candidate>& to);

/// What the template is told for a plan. `f` is the form as the kernel sees it: swapped, if the plan is.
ampere_cell ampere_cell_of(const whole_form& f, const plan& p);

}  // namespace troupe::cutlass
