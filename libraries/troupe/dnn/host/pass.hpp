// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/host/workspace.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn::host {

/// Computes a pass in N, a piece of some elements after the other: what lies between its operations stays in the cache.
template <class N>
void run(const pass& p, const workspace& w);

}  // namespace troupe::dnn::host
