// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/testing/reference/definitions.hpp>
#include <troupe/windows/definition.hpp>

namespace troupe::dnn::detail {
namespace {

void compute(computed_tensor what, const convolution_attributes& a, inputs in, outputs out) {
  const input_values first = in[0], second = in[1];
  const output_values to = out[0];
  const windows::convolution_definition c{
      what, a.slides, a.groups, convolution_roles<tensor_shape>::of(what, first.shape, second.shape, to.shape)};
  const auto element_of = [](const input_values& v) { return [&v](const tensor_index& at) { return v[at]; }; };
  for_each_index(to.shape,
                 [&](const tensor_index& at) { to[at] = c.element(at, element_of(first), element_of(second)); });
}

}  // namespace

void convolve(const convolution_attributes& a, inputs in, outputs out) { compute(computed_tensor::y, a, in, out); }

void find_data_gradient(const convolution_attributes& a, inputs in, outputs out) {
  compute(computed_tensor::dx, a, in, out);
}

void find_weight_gradient(const convolution_attributes& a, inputs in, outputs out) {
  compute(computed_tensor::dfilters, a, in, out);
}

}  // namespace troupe::dnn::detail
