// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cells/ampere_cell.hpp>
#include <troupe/cutlass/cells/candidates.hpp>
#include <troupe/cutlass/cells/cell_text.hpp>
#include <troupe/cutlass/cells/convolution_form.hpp>

namespace troupe::cutlass {

/// Appends the plans that can compute this. Returns why there are none, or "". `gathered_taps`: how often each number
/// of the image is used.
std::string add_convolution_plans(const convolution_form& f, const extents& e, double gathered_taps, const chip& on,
                                  const plan& wanted, std::vector<candidate>& to);

/// What the template is told for a plan.
ampere_cell convolution_cell_of(const convolution_form& f, const plan& p);

/// Returns the kernel of a plan without anything left open.
cell_text text_of_cell(const convolution_form& f, const plan& p);

}  // namespace troupe::cutlass
