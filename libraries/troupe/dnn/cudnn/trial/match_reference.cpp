// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/cudnn/trial/match_reference.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/epilogue/op_definitions.hpp>
#include <troupe/windows/definition.hpp>

namespace troupe::dnn::cudnn {
double match_reference::at(std::uint16_t tensor, const axis_values& where, double& magnitude) const {
  const encoded_tensor& t = graph_.tensors()[tensor];
  if (t.where == encoded_tensor::place::number) return t.number;
  axis_values at = where;
  for (std::size_t i = 0; i < t.shape.rank; ++i)
    if (t.shape.extents[i] == 1) at[i] = 0;  // broadcast
  for (std::size_t i = 0; i < match_.inputs.size(); ++i)
    if (match_.inputs[i].number == tensor) return read_input_(i, at);
  const auto producer = uses_.producer_of(tensor);
  return producer ? element(graph_.nodes()[*producer], tensor, at, magnitude) : 0;
}

double match_reference::element(const encoded_node& n, std::uint16_t output, const axis_values& at,
                                double& magnitude) const {
  switch (n.what) {
    case op::convert:
      return epilogue::nearest_of(graph_.tensors()[n.outputs[0]].type, this->at(n.inputs[0], at, magnitude));
    case op::pointwise: {
      double arguments[3] = {};
      for (std::size_t k = 0; k < n.input_count; ++k) arguments[k] = this->at(n.inputs[k], at);
      return epilogue::value_of(n.attributes.as<pointwise_attributes>().function, arguments[0], arguments[1],
                                arguments[2]);
    }
    case op::convolution:
    case op::convolution_data_gradient:
    case op::convolution_weight_gradient:
      return convolution(n, at);
    case op::attention:
    case op::attention_gradient:
      return attention(n, output, at, magnitude);
    default:  // a write
      return this->at(n.inputs[0], at, magnitude);
  }
}

double match_reference::convolution(const encoded_node& n, const axis_values& at) const {
  const auto a = n.attributes.as<convolution_attributes>();
  const computed_tensor what = computed_by(n.what);
  const auto input = [&](std::size_t i) {
    return [this, t = n.inputs[i]](const axis_values& where) { return this->at(t, where); };
  };
  return windows::convolution_definition{
      what, a.slides, a.groups,
      convolution_roles<tensor_shape>::of(what, shape(n.inputs[0]), shape(n.inputs[1]), shape(n.outputs[0]))}
      .element(at, input(0), input(1));
}

std::int64_t match_reference::summands_of(std::uint16_t tensor) const {
  const auto producer = uses_.producer_of(tensor);
  if (!producer || std::find(match_.nodes.begin(), match_.nodes.end(), *producer) == match_.nodes.end()) return 1;
  const encoded_node& n = graph_.nodes()[*producer];
  switch (n.what) {
    case op::convolution:
    case op::convolution_data_gradient:
      return elements_of(shape(n.inputs[1]));
    case op::convolution_weight_gradient:
      return elements_of(shape(n.inputs[0])) / shape(n.inputs[0]).extents[1];
    case op::attention:
    case op::attention_gradient:
      return attention_summands(n, tensor);
    default: {
      std::int64_t sum = 1;
      for (const std::uint16_t t : std::span(n.inputs).first(n.input_count)) sum += summands_of(t);
      return sum;
    }
  }
}

}  // namespace troupe::dnn::cudnn
