// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/cudnn/definition.hpp>
#include <troupe/dnn/internal/reference_nodes.hpp>
#include <troupe/epilogue/meaning.hpp>
#include <troupe/epilogue/numbers.hpp>

namespace troupe::dnn::cudnn {
namespace {

using detail::find_in_image, detail::first_spatial;

// Calls `f(index)` for all indexes within the extents, of which those before `first` are as in `fixed`.
template <class F>
void for_each(tensor_shape s, std::size_t first, const axis_values& fixed, F&& f) {
  std::fill_n(s.extents.begin(), first, 1);
  detail::for_each_index(s, [&](axis_values at) {
    std::copy_n(fixed.begin(), first, at.begin());
    f(std::as_const(at));
  });
}

// The reverse of find_in_image: the position at which element f of the window sees the place in the image.
bool seen_from(const sliding& s, const tensor_shape& result, const axis_values& image, const axis_values& f,
               axis_values& position) {
  for (std::size_t i = first_spatial; i < result.rank; ++i) {
    const std::size_t k = i - first_spatial;
    const std::int64_t at = image[i] + s.padding_before[k] - f[i] * s.dilation[k];
    if (at < 0 || at % s.stride[k] != 0 || at / s.stride[k] >= result.extents[i]) return false;
    position[i] = at / s.stride[k];
  }
  return true;
}

}  // namespace

double definition::at(std::uint16_t tensor, const axis_values& where, double& size) const {
  const encoded_tensor& t = g_.tensors()[tensor];
  if (t.where == encoded_tensor::place::number) return t.number;
  axis_values at = where;
  for (std::size_t i = 0; i < t.shape.rank; ++i)
    if (t.shape.extents[i] == 1) at[i] = 0;  // one element is used for all
  for (std::size_t i = 0; i < claim_.inputs.size(); ++i)
    if (claim_.inputs[i].number == tensor) return number_(i, at);
  const auto maker = l_.producer_of(tensor);
  return maker ? element(g_.nodes()[*maker], tensor, at, size) : 0;
}

double definition::element(const encoded_node& n, std::uint16_t output, const axis_values& at, double& size) const {
  switch (n.what) {
    case op::convert:
      return epilogue::nearest_of(g_.tensors()[n.outputs[0]].type, this->at(n.inputs[0], at, size));
    case op::pointwise: {
      double of[3] = {};
      for (std::size_t k = 0; k < n.input_count; ++k) of[k] = this->at(n.inputs[k], at);
      return epilogue::value_of(n.attributes.as<pointwise_attributes>().function, of[0], of[1], of[2]);
    }
    case op::convolution:
      return convolution(n, at);
    case op::convolution_data_gradient:
      return data_gradient(n, at);
    case op::convolution_weight_gradient:
      return weight_gradient(n, at);
    case op::attention:
    case op::attention_gradient:
      return attention(n, output, at, size);
    default:  // a write
      return this->at(n.inputs[0], at, size);
  }
}

double definition::convolution(const encoded_node& n, const axis_values& at) const {
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

double definition::data_gradient(const encoded_node& n, const axis_values& at) const {
  const auto f = n.attributes.as<convolution_attributes>();
  const tensor_shape &dy = shape(n.inputs[0]), &filters = shape(n.inputs[1]);
  const std::int64_t of_group = filters.extents[0] / f.groups, group = at[1] / filters.extents[1];
  double sum = 0;
  for (std::int64_t k = group * of_group; k < (group + 1) * of_group; ++k)
    for_each(filters, first_spatial, {k, at[1] % filters.extents[1]}, [&](const axis_values& within) {
      axis_values position{at[0], k};
      if (seen_from(f.window, dy, at, within, position))
        sum += this->at(n.inputs[0], position) * this->at(n.inputs[1], within);
    });
  return sum;
}

double definition::weight_gradient(const encoded_node& n, const axis_values& at) const {
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

std::int64_t definition::terms_of(std::uint16_t tensor) const {
  const auto maker = l_.producer_of(tensor);
  if (!maker || std::find(claim_.nodes.begin(), claim_.nodes.end(), *maker) == claim_.nodes.end()) return 1;
  const encoded_node& n = g_.nodes()[*maker];
  switch (n.what) {
    case op::convolution:
    case op::convolution_data_gradient:
      return elements_of(shape(n.inputs[1]));
    case op::convolution_weight_gradient:
      return elements_of(shape(n.inputs[0])) / shape(n.inputs[0]).extents[1];
    case op::attention:
    case op::attention_gradient:
      return terms_of_attention(n, tensor);
    default: {
      std::int64_t sum = 1;
      for (const std::uint16_t t : std::span(n.inputs).first(n.input_count)) sum += terms_of(t);
      return sum;
    }
  }
}

}  // namespace troupe::dnn::cudnn
