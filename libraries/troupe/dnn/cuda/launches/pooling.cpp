// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cuda/kernels/kernel_image_arguments.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>

namespace troupe::dnn {

result<void> enqueue_pooling(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<pooling_attributes>();
  const bool forward = s.what == op::pooling;
  const tensor_shape& image = forward ? s.inputs[0].shape : s.outputs[0].shape;
  const tensor_shape& result = forward ? s.outputs[0].shape : s.inputs[0].shape;
  const kernel_arguments::pooling_arguments r{.g = windows::geometry::of(a.slides, image, result, a.extents),
                                              .planes = image.extents[0] * image.extents[1],
                                              .kind = static_cast<std::int64_t>(a.kind),
                                              .x = forward               ? on.at(s.inputs[0])
                                                   : s.inputs.size() > 1 ? on.at(s.inputs[1])
                                                                         : nullptr,
                                              .dy = forward ? nullptr : on.at(s.inputs[0]),
                                              .to = on.at(s.outputs[0])};
  const std::int64_t count = elements_of(s.outputs[0].shape);
  return forward ? launch_per_element<"pool">(on, count, r) : launch_per_element<"pool_gradient">(on, count, r);
}

result<void> enqueue_indexed_pooling(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<pooling_attributes>();
  const bool forward = s.what == op::pooling_with_indexes;
  const location &from = s.inputs[0], &to = s.outputs[0];
  const tensor_shape &image = forward ? from.shape : to.shape, &result = forward ? to.shape : from.shape;
  const kernel_arguments::indexed_pooling_arguments r{.g = windows::geometry::of(a.slides, image, result, a.extents),
                                                      .planes = image.extents[0] * image.extents[1],
                                                      .x = forward ? on.at(from) : nullptr,
                                                      .dy = forward ? nullptr : on.at(from),
                                                      .given = forward ? nullptr : on.at(s.inputs[1]),
                                                      .to = on.at(to),
                                                      .found = forward ? on.at(s.outputs[1]) : nullptr};
  const std::int64_t count = elements_of(to.shape);
  return forward ? launch_per_element<"pool_with_indexes">(on, count, r)
                 : launch_per_element<"pool_index_gradient">(on, count, r);
}

}  // namespace troupe::dnn
