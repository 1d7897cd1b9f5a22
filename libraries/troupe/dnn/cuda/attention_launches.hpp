// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/launches.hpp>

namespace troupe::dnn {

result<void> attend(const operator_step& s, const launch_site& w);
result<void> find_attention_gradients(const operator_step& s, const launch_site& w);
/// Returns the workspace of an attention, in numbers: the results of parts of its keys.
std::int64_t attention_workspace_of(const operator_step& s) noexcept;

}  // namespace troupe::dnn
