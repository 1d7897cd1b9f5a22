// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/steps/steps.hpp>

/// All tensors are numbers N without gaps, but for those of i32.
namespace troupe::dnn::host {

template <class N>
void attend(const execution_context& w, const operator_step& s);
template <class N>
void attention_gradient(const execution_context& w, const operator_step& s);

}  // namespace troupe::dnn::host
