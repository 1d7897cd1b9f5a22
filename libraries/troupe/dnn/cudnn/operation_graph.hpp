// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cudnn/kernel_maker.hpp>
#include <troupe/dnn/cudnn/operations.hpp>
#include <troupe/dnn/steps/fusion_matches.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

/// A fusion match as an operation graph of cuDNN. cuDNN may have an engine for it.
struct operation_graph {
  fusion_match match;
  cudnn::operations operations;  ///< its arguments: inputs and outputs of the match, then scratch memory
  std::size_t factors = 2;       ///< the first `factors` inputs are those that cuDNN's kernels never read early
  bool exact_f32 = false;        ///< true if the factors are f32, and must not be rounded if precision is exact
  std::vector<std::int64_t> excluded_engines = {};  ///< cuDNN's global indexes of engines that must not be used
  std::vector<std::uint64_t> scratch_bytes = {};    ///< bytes of each argument that is scratch memory
  double trial_unit = 1;                            ///< elements of operands in plan trials are small multiples of it
};

constexpr bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

/// Return the graphs of a node for which cuDNN may have an engine, the best one first. Graphs may fuse the node with
/// nodes that follow it. If `exact`, factors of f32 must not be rounded to fewer digits. If `repeatable`, results must
/// be the same in every run.
std::vector<operation_graph> operation_graphs_of(const graph_analysis& g, std::size_t node,
                                                 const computation_options& options);
std::vector<operation_graph> convolution_graphs(const graph_analysis& g, std::size_t node, bool exact);
std::vector<operation_graph> attention_graphs(const graph_analysis& g, std::size_t node);
std::vector<operation_graph> attention_gradient_graphs(const graph_analysis& g, std::size_t node, bool repeatable);

}  // namespace troupe::dnn::cudnn
