// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/onednn/program.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <vector>

namespace troupe::dnn::onednn {

/// Options of the search.
struct search_options {
  std::uint64_t workspace = ~std::uint64_t{0};  ///< maximum number of bytes of each program
  bool ignore_costs = false;                    ///< use oneDNN even where our code may be faster
};
/// A fusion match, and the program that computes it.
struct convolution_match {
  fusion_match match;
  onednn::program program;
};
/// Finds the convolutions that oneDNN computes faster than our code, with the functions that it fuses with them.
std::vector<convolution_match> find_convolutions(dnnl_engine_t on, const encoded_graph& g,
                                                 const search_options& options);

}  // namespace troupe::dnn::onednn
