// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cells/candidates.hpp>
#include <troupe/cutlass/cells/convolution_form.hpp>
#include <troupe/cutlass/cells/hopper_cell.hpp>

namespace troupe::cutlass {

/// Adds the plans of our template for Hopper. Returns why there are none, or "".
std::string add_hopper_plans(const whole_form& f, const extents& e, const chip& on, const plan& wanted,
                             std::vector<candidate>& to);
/// The same for a convolution that is gathered, by one launch or several. `reuse`: how often each number of the image
/// is used. Launches have as many terms as are copied.
std::string add_hopper_plans(const convolution_form& f, std::vector<extents> launches, double reuse, const chip& on,
                             const plan& wanted, std::vector<candidate>& to);

/// What the template is told for a plan. `f` is the form as the kernel sees it: swapped, if the plan is.
hopper_cell hopper_cell_of(const whole_form& f, const plan& p);
hopper_cell hopper_cell_of(const convolution_form& f, const plan& p);

}  // namespace troupe::cutlass
