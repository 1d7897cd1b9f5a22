// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/internal/recurrence_layout.hpp>

/// One step of one sequence: loops over the units of a cell.
namespace troupe::dnn::host {

/// From the sums in a line of the reserve: the gates, the state after the step. h and c are those before it; `to` is h,
/// or what is projected to it, after it.
void step_cell(const detail::recurrence_layout& l, float* line, float* c, float* to) noexcept;
void step_cell(const detail::recurrence_layout& l, double* line, double* c, double* to) noexcept;

/// From the gradient of what the step gave: those of the gates' sums. dh becomes what of the gradient of h before the
/// step does not come from these; `workspace` is that of the hidden units.
void step_cell_back(const detail::recurrence_layout& l, const float* line, const float* d, float* dh, float* dc,
                    float* slopes, float* workspace) noexcept;
void step_cell_back(const detail::recurrence_layout& l, const double* line, const double* d, double* dh, double* dc,
                    double* slopes, double* workspace) noexcept;

}  // namespace troupe::dnn::host
