// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cudnn/sketch.hpp>

namespace troupe::dnn::cudnn {

std::vector<sketch> sketches_of(const model& m, std::size_t node, const wishes& w) {
  switch (m.node(node).what) {
    case op::convolution:
    case op::convolution_data_gradient:
    case op::convolution_weight_gradient:
      return sketches_of_convolution(m, node, w.exact);
    case op::attention:
      return sketches_of_attention(m, node);
    case op::attention_gradient:
      return sketches_of_attention_gradient(m, node, w.repeatable);
    default:
      return {};
  }
}

}  // namespace troupe::dnn::cudnn
