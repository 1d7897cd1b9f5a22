// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/dnn/sets/set_kernel.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>

namespace troupe::dnn::sets {

/// Limits of a set kernel. If `saves_memory`, kernels have no workspace, and each computes few results.
struct set_limits {
  std::size_t operations = SIZE_MAX, operands = SIZE_MAX;
  bool saves_memory = false;
};

/// Returns matches of all nodes that are reductions, softmax or normalizations, which no other match computes. `others`
/// are the matches that the analysis lists as matched. Their nodes are added to the analysis.
std::vector<set_match> set_matches(graph_analysis& g, std::span<const fusion_match> others, dtype compute,
                                   const set_limits& limits);

/// Returns the kernels of a match whose operands are at these places.
std::vector<set_kernel> set_kernels_of(const encoded_graph& g, const set_match& m, const fused_step& places);

}  // namespace troupe::dnn::sets
