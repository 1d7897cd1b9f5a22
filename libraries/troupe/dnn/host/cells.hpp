// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/internal/recurrence_layout.hpp>

/// One step of one sequence of an RNN: loops over the units of a cell.
namespace troupe::dnn::host {

/// Computes the gates and the state after the step from the sums in a line of the reserve. h and c hold the state
/// before the step; `to` becomes h after it, or the state that is projected to h.
void step_cell(const detail::recurrence_layout& l, float* line, float* c, float* to) noexcept;
void step_cell(const detail::recurrence_layout& l, double* line, double* c, double* to) noexcept;

/// Computes the gradients of the gates' sums from the gradient of the step's result. dh becomes the part of the
/// gradient of h before the step that does not come from these; `workspace` has one number for each hidden unit.
void step_cell_back(const detail::recurrence_layout& l, const float* line, const float* d, float* dh, float* dc,
                    float* gate_gradients, float* workspace) noexcept;
void step_cell_back(const detail::recurrence_layout& l, const double* line, const double* d, double* dh, double* dc,
                    double* gate_gradients, double* workspace) noexcept;

}  // namespace troupe::dnn::host
