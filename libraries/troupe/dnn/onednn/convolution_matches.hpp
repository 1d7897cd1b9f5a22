// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/onednn/primitive_list.hpp>
#include <troupe/dnn/steps/fusion_match.hpp>
#include <vector>

namespace troupe::dnn::onednn {

/// Options of the search for convolutions.
struct search_options {
  std::uint64_t workspace = ~std::uint64_t{0};  ///< the most bytes of workspace of each match
  bool ignore_costs = false;                    ///< true to use oneDNN even where our code may be faster
};
/// A fusion match, and the primitives that compute it.
struct convolution_match {
  fusion_match match;
  primitive_list primitives;
};
/// Finds the convolutions that oneDNN computes faster than our code, and the following functions that oneDNN fuses with
/// them.
std::vector<convolution_match> find_convolutions(dnnl_engine_t on, const encoded_graph& g,
                                                 const search_options& options);

}  // namespace troupe::dnn::onednn
