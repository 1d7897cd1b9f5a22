// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/launches/launches.hpp>

namespace troupe::dnn {

/// Returns the elements of workspace of a reduction: the parts' results if its sets are divided into parts, otherwise
/// 0.
std::int64_t reduction_workspace_of(const operator_step& s) noexcept;

}  // namespace troupe::dnn
