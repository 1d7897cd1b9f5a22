// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/cuda/kernels/kernel_image_arguments.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/operations/blocks/attributes.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/dnn/operations/resampling/sampling.hpp>
#include <troupe/dnn/operations/response_norm/attributes.hpp>
#include <troupe/dnn/operations/windows/sliding.hpp>

namespace troupe::dnn {
namespace {

result<void> enqueue_response_norm(const operator_step& s, const execution_context& w) {
  const auto f = s.attributes.as<local_response_norm_attributes>();
  const bool forward = s.what == op::local_response_norm;
  const tensor_shape& x = s.inputs[0].shape;
  const kernel_arguments::response_norm_arguments r{.images = x.extents[0],
                                                    .channels = x.extents[1],
                                                    .between = elements_of(x) / x.extents[0] / x.extents[1],
                                                    .x = w.at(s.inputs[forward ? 0 : 1]),
                                                    .dy = forward ? nullptr : w.at(s.inputs[0]),
                                                    .to = w.at(s.outputs[0]),
                                                    .size = f.size,
                                                    .alpha = f.alpha,
                                                    .beta = f.beta,
                                                    .k = f.k};
  return forward ? launch_per_element<"normalize_responses">(w, elements_of(x), r)
                 : launch_per_element<"response_gradient">(w, elements_of(x), r);
}

result<void> enqueue_resampling(const operator_step& s, const execution_context& w) {
  const auto f = s.attributes.as<resampling_attributes>();
  const bool forward = s.what == op::resampling;
  const location &from = s.inputs[0], &to = s.outputs[0];
  const tensor_shape &image = forward ? from.shape : to.shape, &result = forward ? to.shape : from.shape;
  kernel_arguments::resampling_arguments r{.planes = image.extents[0] * image.extents[1],
                                           .in = {1, 1, 1},
                                           .out = {1, 1, 1},
                                           .taps = {1, 1, 1},
                                           .aligned = f.aligned,
                                           .from = w.at(from),
                                           .to = w.at(to)};
  const std::size_t missing = most_spatial + 2 - image.rank;
  for (std::size_t i = missing; i < most_spatial; ++i)
    r.in[i] = image.extents[i - missing + 2], r.out[i] = result.extents[i - missing + 2], r.taps[i] = taps_of(f.kind);
  const std::int64_t count = elements_of(to.shape);
  return forward ? launch_per_element<"resample">(w, count, r) : launch_per_element<"resampling_gradient">(w, count, r);
}

result<void> enqueue_indexed_pooling(const operator_step& s, const execution_context& w) {
  const auto f = s.attributes.as<pooling_attributes>();
  const bool forward = s.what == op::pooling_with_indexes;
  const location &from = s.inputs[0], &to = s.outputs[0];
  const tensor_shape &image = forward ? from.shape : to.shape, &result = forward ? to.shape : from.shape;
  const kernel_arguments::indexed_pooling_arguments r{.g = windows_of(f.window, image, result, f.extents),
                                                      .planes = image.extents[0] * image.extents[1],
                                                      .x = forward ? w.at(from) : nullptr,
                                                      .dy = forward ? nullptr : w.at(from),
                                                      .given = forward ? nullptr : w.at(s.inputs[1]),
                                                      .to = w.at(to),
                                                      .found = forward ? w.at(s.outputs[1]) : nullptr};
  const std::int64_t count = elements_of(to.shape);
  return forward ? launch_per_element<"pool_with_indexes">(w, count, r)
                 : launch_per_element<"pool_index_gradient">(w, count, r);
}

}  // namespace

result<void> enqueue_image_step(const operator_step& s, const execution_context& w) {
  if (s.what == op::local_response_norm || s.what == op::local_response_norm_gradient)
    return enqueue_response_norm(s, w);
  if (s.what == op::resampling || s.what == op::resampling_gradient) return enqueue_resampling(s, w);
  return enqueue_indexed_pooling(s, w);
}

result<void> enqueue_block_step(const operator_step& s, const execution_context& w) {
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
