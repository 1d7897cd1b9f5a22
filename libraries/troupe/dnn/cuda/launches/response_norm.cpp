// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cuda/kernels/kernel_image_arguments.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/operations/response_norm/attributes.hpp>

namespace troupe::dnn {

result<void> enqueue_response_norm(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<local_response_norm_attributes>();
  const bool forward = s.what == op::local_response_norm;
  const tensor_shape& x = s.inputs[0].shape;
  const kernel_arguments::response_norm_arguments r{.images = x.extents[0],
                                                    .channels = x.extents[1],
                                                    .between = elements_of(x) / x.extents[0] / x.extents[1],
                                                    .x = on.at(s.inputs[forward ? 0 : 1]),
                                                    .dy = forward ? nullptr : on.at(s.inputs[0]),
                                                    .to = on.at(s.outputs[0]),
                                                    .size = a.size,
                                                    .alpha = a.alpha,
                                                    .beta = a.beta,
                                                    .k = a.k};
  return forward ? launch_per_element<"normalize_responses">(on, elements_of(x), r)
                 : launch_per_element<"response_gradient">(on, elements_of(x), r);
}

}  // namespace troupe::dnn
