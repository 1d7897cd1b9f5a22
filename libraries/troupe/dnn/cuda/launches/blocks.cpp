// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cuda/kernels/kernel_image_arguments.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/operations/blocks/attributes.hpp>

namespace troupe::dnn {

result<void> enqueue_block_scaling(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<block_attributes>();
  const bool forward = s.what == op::block_quantization;
  const tensor_shape &x = s.inputs[0].shape, &scales = forward ? s.outputs[1].shape : s.inputs[1].shape;
  const auto along = static_cast<std::size_t>(a.along);
  std::int64_t width = 1;
  for (std::size_t i = along + 1; i < x.rank; ++i) width *= x.extents[i];
  const kernel_arguments::block_scaling_arguments r{.rows = elements_of(x) / x.extents[along] / width,
                                                    .length = x.extents[along],
                                                    .width = width,
                                                    .block = a.block,
                                                    .elements = static_cast<std::uint64_t>(a.elements),
                                                    .scales = static_cast<std::uint64_t>(a.scales),
                                                    .from = on.at(s.inputs[0]),
                                                    .to = on.at(s.outputs[0]),
                                                    .by = on.at(forward ? s.outputs[1] : s.inputs[1])};
  return forward ? launch_per_element<"quantize_blocks">(on, elements_of(scales), r)
                 : launch_per_element<"dequantize_blocks">(on, elements_of(x), r);
}

}  // namespace troupe::dnn
