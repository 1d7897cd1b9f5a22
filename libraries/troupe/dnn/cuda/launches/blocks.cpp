// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cuda/kernels/kernel_image_arguments.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/operations/blocks/attributes.hpp>

namespace troupe::dnn {

result<void> enqueue_block_scaling(const operator_step& s, const launch_context& w) {
  const auto f = s.attributes.as<block_attributes>();
  const bool forward = s.what == op::block_quantization;
  const tensor_shape &x = s.inputs[0].shape, &scales = forward ? s.outputs[1].shape : s.inputs[1].shape;
  const auto along = static_cast<std::size_t>(f.along);
  std::int64_t width = 1;
  for (std::size_t i = along + 1; i < x.rank; ++i) width *= x.extents[i];
  const kernel_arguments::block_scaling_arguments r{.rows = elements_of(x) / x.extents[along] / width,
                                                    .length = x.extents[along],
                                                    .width = width,
                                                    .block = f.block,
                                                    .elements = static_cast<std::uint64_t>(f.elements),
                                                    .scales = static_cast<std::uint64_t>(f.scales),
                                                    .from = w.at(s.inputs[0]),
                                                    .to = w.at(s.outputs[0]),
                                                    .by = w.at(forward ? s.outputs[1] : s.inputs[1])};
  return forward ? launch_per_element<"quantize_blocks">(w, elements_of(scales), r)
                 : launch_per_element<"dequantize_blocks">(w, elements_of(x), r);
}

}  // namespace troupe::dnn
