// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/steps/steps.hpp>

/// Attention on the host. All tensors are dense, with elements of type N, except those of i32.
namespace troupe::dnn::host {

/// Computes y and the statistics of an attention.
template <class N>
void attend(const execution_context& w, const operator_step& s);
/// Computes the gradients of an attention.
template <class N>
void attention_gradient(const execution_context& w, const operator_step& s);

}  // namespace troupe::dnn::host
