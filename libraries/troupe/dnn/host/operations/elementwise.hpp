// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn::host {

/// Computes an elementwise kernel in the type N, a tile of elements at a time, so that the results of its operations
/// stay in the cache.
template <class N>
void compute_elements(const elementwise_kernel& kernel, const execution_context& on);

}  // namespace troupe::dnn::host
