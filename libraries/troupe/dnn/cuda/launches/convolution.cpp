// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/cuda/launches/operations.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>

namespace troupe::dnn {

using kernel_arguments::set_threads;

result<void> enqueue_convolution(const operator_step& s, const execution_context& w) {
  const auto f = s.attributes.as<convolution_attributes>();
  const bool forward = s.what == op::convolution, of_data = s.what == op::convolution_data_gradient;
  const auto [image, filters, result] = convolution_roles<const tensor_shape&>::of(
      computed_by(s.what), s.inputs[0].shape, s.inputs[1].shape, s.outputs[0].shape);
  const kernel_arguments::convolution_arguments r{
      .g = windows::geometry::of(f.slides, image, result, filters.extents.data() + 2),
      .images = image.extents[0],
      .groups = f.groups,
      .channels = filters.extents[1],
      .out_channels = filters.extents[0] / f.groups,
      .a = w.at(s.inputs[0]),
      .b = w.at(s.inputs[1]),
      .to = w.at(s.outputs[0])};
  const std::int64_t count = elements_of(s.outputs[0].shape);
  if (forward) return launch_per_element<"convolution">(w, count, r);
  if (of_data) return launch_per_element<"convolution_data_gradient">(w, count, r);
  return launch<"convolution_weight_gradient">(w, count, set_threads, r);
}

}  // namespace troupe::dnn
