// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/onednn/program.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <vector>

namespace troupe::dnn::onednn {

struct search_options {
  std::uint64_t workspace = ~std::uint64_t{0};  ///< the most bytes for each
  bool whatever_it_costs = false;               ///< all that oneDNN has, though we may be faster
};
/// Nodes of a graph, and the program that computes them.
struct found {
  fusion_match what;
  program how;
};
/// Finds the convolutions that oneDNN computes faster than we, and what it computes with them.
std::vector<found> find_convolutions(dnnl_engine_t on, const encoded_graph& g, const search_options& how);

}  // namespace troupe::dnn::onednn
