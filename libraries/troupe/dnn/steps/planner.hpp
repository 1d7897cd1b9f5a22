// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/dnn/steps/fusion_match.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn {

/// Limits of one elementwise kernel; the planner begins a new kernel when one is full. `workspace` returns the elements
/// of workspace that the engine needs for a step, beside those of step_workspace.hpp; nullptr means none.
struct elementwise_limits {
  std::size_t operations = 60'000, operands = 60'000, sequences = 60'000;  // counted in 16 bits
  std::int64_t (*workspace)(const operator_step&) = nullptr;
};

/// Plans the steps of a graph. Consecutive elementwise operations become one kernel. Nodes that only move elements
/// become views; a view is copied only if a step needs a dense tensor. Precondition: of the tensors that a match
/// computes, nodes outside the match read only the match's outputs.
step_list steps_of(const encoded_graph& g, const elementwise_limits& limits = {},
                   std::span<const fusion_match> matches = {});

}  // namespace troupe::dnn
