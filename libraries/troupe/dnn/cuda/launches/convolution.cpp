// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/steps/convolution_steps.hpp>

namespace troupe::dnn {

using kernel_arguments::set_threads;

result<void> enqueue_convolution(const operator_step& s, const launch_context& on) {
  const bool forward = s.what == op::convolution, of_data = s.what == op::convolution_data_gradient;
  const kernel_arguments::convolution_arguments r{convolution_geometry_of(s), on.at(s.inputs[0]), on.at(s.inputs[1]),
                                                  on.at(s.outputs[0])};
  const std::int64_t count = elements_of(s.outputs[0].shape);
  if (forward) return launch_per_element<"convolution">(on, count, r);
  if (of_data) return launch_per_element<"convolution_data_gradient">(on, count, r);
  return launch<"convolution_weight_gradient">(on, count, set_threads, r);
}

}  // namespace troupe::dnn
