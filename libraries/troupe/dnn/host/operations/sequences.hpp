// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/steps/steps.hpp>

/// Recurrences and the CTC loss on the host. All tensors are dense, with elements of type N, in the order that
/// sequence_attributes.hpp documents.
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
