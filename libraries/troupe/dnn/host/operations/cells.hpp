// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/recurrence/layout.hpp>

/// One step of one sequence of a recurrence: loops over the units of a layer.
namespace troupe::dnn::host {

/// Computes the gates and the next state from the sums in the step's line of the reserve, which also has h before the
/// step. Replaces c by the next c. Writes the next h, or the state to be projected, to `to`.
void step_cell(const detail::recurrence_layout& l, float* line, float* c, float* to) noexcept;
void step_cell(const detail::recurrence_layout& l, double* line, double* c, double* to) noexcept;

/// Computes the gradients of the gates' sums from `d`, the gradient of the step's result. Replaces dh by the part of
/// the gradient of the previous h that does not pass through the gates, and dc by the gradient of the previous c.
/// `workspace` has one element for each hidden unit.
void step_cell_gradient(const detail::recurrence_layout& l, const float* line, const float* d, float* dh, float* dc,
                        float* gate_gradients, float* workspace) noexcept;
void step_cell_gradient(const detail::recurrence_layout& l, const double* line, const double* d, double* dh, double* dc,
                        double* gate_gradients, double* workspace) noexcept;

}  // namespace troupe::dnn::host
