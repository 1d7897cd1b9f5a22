// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/recurrence/layout.hpp>

/// One step of one sequence of a recurrence: loops over the units of a cell.
namespace troupe::dnn::host {

/// Computes the gates and the state after a step from the sums in the step's line of the reserve, which also holds h
/// before the step. Replaces c by that after the step, and writes h, or the state to be projected, to `to`.
void step_cell(const detail::recurrence_layout& l, float* line, float* c, float* to) noexcept;
void step_cell(const detail::recurrence_layout& l, double* line, double* c, double* to) noexcept;

/// Computes the gradients of the gates' sums from `d`, that of the step's result. Replaces dh by the part of the
/// gradient of h before the step that does not pass the gates, and dc by that of c before the step. `workspace` has one
/// element for each hidden unit.
void step_cell_gradient(const detail::recurrence_layout& l, const float* line, const float* d, float* dh, float* dc,
                        float* gate_gradients, float* workspace) noexcept;
void step_cell_gradient(const detail::recurrence_layout& l, const double* line, const double* d, double* dh, double* dc,
                        double* gate_gradients, double* workspace) noexcept;

}  // namespace troupe::dnn::host
