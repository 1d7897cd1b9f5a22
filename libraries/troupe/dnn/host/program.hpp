// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>
#include <troupe/base/thread_team.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn::host {

/// Plans a graph for `run`.
result<step_list> plan(const seen_graph& g);
/// Carries out the steps of a graph with this structure; its addresses are used. `scratch` is 64-byte aligned.
void run(const step_list& all, const seen_graph& g, std::byte* scratch, thread_team& team);

}  // namespace troupe::dnn::host
