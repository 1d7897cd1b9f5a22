// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cudnn/operations.hpp>
#include <troupe/dnn/cudnn/vendor.hpp>
#include <troupe/dnn/steps/fusion_matches.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <vector>

namespace troupe::dnn::cudnn {

/// A fusion match as an operation graph of cuDNN, which may have an engine for it.
struct operation_graph {
  fusion_match match;
  cudnn::operations operations;  ///< its arguments: the inputs and outputs of the match, then the scratch
  std::size_t factors = 2;       ///< number of first inputs, for which every kernel of cuDNN waits
  bool exact_f32 = false;        ///< true if its factors are f32, which may have to be exact
  std::vector<std::int64_t> excluded_engines = {};  ///< numbers of cuDNN's engines that must not be used
  std::vector<std::uint64_t> scratch_bytes = {};    ///< bytes of further arguments, which are in the workspace
  double trial_unit = 1;                            ///< plans are tried on small multiples of it
};

constexpr bool is_half(dtype t) noexcept { return t == dtype::f16 || t == dtype::bf16; }

/// Return the graphs of a node, fused with nodes that follow it, that cuDNN may have an engine for, the best first.
/// `exact`: factors of f32 must not be rounded to fewer digits. `repeatable`: results must be the same each time.
std::vector<operation_graph> operation_graphs_of(const graph_analysis& g, std::size_t node,
                                                 const plan_constraints& constraints);
std::vector<operation_graph> convolution_graphs(const graph_analysis& g, std::size_t node, bool exact);
std::vector<operation_graph> attention_graphs(const graph_analysis& g, std::size_t node);
std::vector<operation_graph> attention_gradient_graphs(const graph_analysis& g, std::size_t node, bool repeatable);

}  // namespace troupe::dnn::cudnn
