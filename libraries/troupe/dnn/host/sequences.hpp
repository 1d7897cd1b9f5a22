// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/steps/steps.hpp>

/// Operations on sequences, step by step. All tensors are contiguous numbers N, in the order of the attributes.
namespace troupe::dnn::host {

template <class N>
void recur(const execution_context& w, const operator_step& s);
template <class N>
void recurrence_gradient(const execution_context& w, const operator_step& s);

template <class N>
void ctc_loss(const execution_context& w, const operator_step& s);
template <class N>
void ctc_loss_gradient(const execution_context& w, const operator_step& s);

}  // namespace troupe::dnn::host
