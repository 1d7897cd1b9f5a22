// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/workspace.hpp>
#include <troupe/dnn/steps/steps.hpp>

/// Nodes that go through sequences step by step. All tensors are numbers N without gaps, in the order of the forms.
namespace troupe::dnn::host {

template <class N>
void recur(const workspace& w, const operator_step& s);
template <class N>
void recurrence_gradient(const workspace& w, const operator_step& s);

template <class N>
void ctc_loss(const workspace& w, const operator_step& s);
template <class N>
void ctc_loss_gradient(const workspace& w, const operator_step& s);

}  // namespace troupe::dnn::host
