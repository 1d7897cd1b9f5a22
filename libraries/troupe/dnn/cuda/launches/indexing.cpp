// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cuda/kernels/kernel_image_arguments.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/operations/indexing/attributes.hpp>

namespace troupe::dnn {

result<void> enqueue_scatter_add(const operator_step& s, const launch_context& on) {
  const parts_along along(s.attributes.as<gather_attributes>(), s.outputs[0].shape, s.inputs[1].shape);
  const kernel_arguments::scatter_arguments r{.outer = along.outer,
                                              .extent = along.extent,
                                              .inner = along.inner,
                                              .count = along.count,
                                              .parts = on.at(s.inputs[0]),
                                              .indexes = on.at(s.inputs[1]),
                                              .has_long_indexes = s.inputs[1].type == dtype::i64,
                                              .to = on.at(s.outputs[0])};
  return launch<"scatter_add">(on, r.outer * r.extent, kernel_arguments::scatter_threads, r);
}

}  // namespace troupe::dnn
