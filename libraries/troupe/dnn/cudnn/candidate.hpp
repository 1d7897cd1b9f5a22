// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cudnn/kernel_maker.hpp>
#include <troupe/dnn/cudnn/operation_graph.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

/// A fusion match that cuDNN may have an engine for, and the operation graph that computes it.
struct candidate {
  fusion_match match;
  operation_graph graph;    ///< its arguments: inputs and outputs of the match, then scratch memory
  std::size_t factors = 2;  ///< the first `factors` inputs are those that cuDNN's kernels never read early
  bool exact_f32 = false;   ///< true if the factors are f32, and must not be rounded if precision is exact
  std::vector<std::int64_t> excluded_engines = {};  ///< cuDNN's global indexes of engines that must not be used
  std::vector<std::uint64_t> scratch_bytes = {};    ///< bytes of each argument that is scratch memory
  double trial_unit = 1;                            ///< elements of operands in plan trials are small multiples of it
};

constexpr bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

/// Return the candidates for a node, the best one first. They may fuse the node with nodes that follow it. If `exact`,
/// factors of f32 must not be rounded to fewer digits. If `repeatable`, results must be the same in every run.
std::vector<candidate> candidates_of(const graph_analysis& g, std::size_t node, const computation_options& options);
std::vector<candidate> convolution_candidates(const graph_analysis& g, std::size_t node, bool exact);
std::vector<candidate> attention_candidates(const graph_analysis& g, std::size_t node);
std::vector<candidate> attention_gradient_candidates(const graph_analysis& g, std::size_t node, bool repeatable);

}  // namespace troupe::dnn::cudnn
