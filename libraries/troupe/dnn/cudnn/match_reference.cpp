// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/cudnn/match_reference.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/windows/spatial.hpp>
#include <troupe/epilogue/numbers.hpp>
#include <troupe/epilogue/op_definitions.hpp>

namespace troupe::dnn::cudnn {
namespace {

using detail::find_in_image, detail::first_spatial;

// Calls `f(index)` for all elements of `s` whose indexes along the axes before `first` are those of `fixed`.
template <class F>
void for_each(tensor_shape s, std::size_t first, const axis_values& fixed, F&& f) {
  std::fill_n(s.extents.begin(), first, 1);
  detail::for_each_index(s, [&](axis_values at) {
    std::copy_n(fixed.begin(), first, at.begin());
    f(std::as_const(at));
  });
}

// Sets the spatial indexes of `position` to the window position at which window element f is above the element `image`.
// Returns false if there is none. The inverse of find_in_image.
bool find_position(const windows::slides& s, const tensor_shape& result, const axis_values& image, const axis_values& f,
                   axis_values& position) {
  for (std::size_t i = first_spatial; i < result.rank; ++i) {
    const windows::slide& k = s[i - first_spatial];
    const std::int64_t at = image[i] + k.padding_before - f[i] * k.dilation;
    if (at < 0 || at % k.stride != 0 || at / k.stride >= result.extents[i]) return false;
    position[i] = at / k.stride;
  }
  return true;
}

}  // namespace

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
      return convolution(n, at);
    case op::convolution_data_gradient:
      return data_gradient(n, at);
    case op::convolution_weight_gradient:
      return weight_gradient(n, at);
    case op::attention:
    case op::attention_gradient:
      return attention(n, output, at, magnitude);
    default:  // a write
      return this->at(n.inputs[0], at, magnitude);
  }
}

double match_reference::convolution(const encoded_node& n, const axis_values& at) const {
  const auto f = n.attributes.as<convolution_attributes>();
  const tensor_shape &x = shape(n.inputs[0]), &filters = shape(n.inputs[1]);
  const std::int64_t group = at[1] / (filters.extents[0] / f.groups);
  double sum = 0;
  for_each(filters, 1, {at[1]}, [&](const axis_values& within) {
    axis_values image{at[0], group * filters.extents[1] + within[1]};
    if (find_in_image(f.window, x, at, within, image))
      sum += this->at(n.inputs[0], image) * this->at(n.inputs[1], within);
  });
  return sum;
}

double match_reference::data_gradient(const encoded_node& n, const axis_values& at) const {
  const auto f = n.attributes.as<convolution_attributes>();
  const tensor_shape &dy = shape(n.inputs[0]), &filters = shape(n.inputs[1]);
  const std::int64_t group_size = filters.extents[0] / f.groups, group = at[1] / filters.extents[1];
  double sum = 0;
  for (std::int64_t k = group * group_size; k < (group + 1) * group_size; ++k)
    for_each(filters, first_spatial, {k, at[1] % filters.extents[1]}, [&](const axis_values& within) {
      axis_values position{at[0], k};
      if (find_position(f.window, dy, at, within, position))
        sum += this->at(n.inputs[0], position) * this->at(n.inputs[1], within);
    });
  return sum;
}

double match_reference::weight_gradient(const encoded_node& n, const axis_values& at) const {
  const auto f = n.attributes.as<convolution_attributes>();
  const tensor_shape &dy = shape(n.inputs[0]), &x = shape(n.inputs[1]), &filters = shape(n.outputs[0]);
  const std::int64_t group = at[0] / (filters.extents[0] / f.groups);
  double sum = 0;
  for (std::int64_t i = 0; i < dy.extents[0]; ++i)
    for_each(dy, first_spatial, {i, at[0]}, [&](const axis_values& position) {
      axis_values image{i, group * filters.extents[1] + at[1]};
      if (find_in_image(f.window, x, position, at, image))
        sum += this->at(n.inputs[0], position) * this->at(n.inputs[1], image);
    });
  return sum;
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
