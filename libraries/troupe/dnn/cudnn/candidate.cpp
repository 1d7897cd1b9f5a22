// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cudnn/candidate.hpp>

namespace troupe::dnn::cudnn {

std::vector<candidate> candidates_of(const graph_analysis& g, std::size_t node, const computation_options& options) {
  switch (g.node(node).what) {
    case op::convolution:
    case op::convolution_data_gradient:
    case op::convolution_weight_gradient:
      return convolution_candidates(g, node, options.precision == precision::exact);
    case op::attention:
      return attention_candidates(g, node);
    case op::attention_gradient:
      return attention_gradient_candidates(g, node, options.repeatability == repeatability::always);
    default:
      return {};
  }
}

}  // namespace troupe::dnn::cudnn
