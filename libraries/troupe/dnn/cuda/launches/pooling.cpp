// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <functional>
#include <troupe/dnn/cuda/kernels/kernel_image_arguments.hpp>
#include <troupe/dnn/cuda/kernels/stored_pooling_arguments.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/cuda/launches/stored_type.hpp>
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

namespace {

// Returns the axes of an image as the kernels have them; missing spatial axes come first.
std::size_t axis_of_kernel(std::size_t axis, std::size_t rank) noexcept { return axis < 2 ? axis : axis + 5 - rank; }

kernel_arguments::stored_image stored_image_at(const location& l, const launch_context& on) {
  kernel_arguments::stored_image out{on.at(l), l.type, {}};
  for (std::size_t i = 0; i < l.shape.rank; ++i)
    out.strides[axis_of_kernel(i, l.shape.rank)] = static_cast<std::uint32_t>(l.shape.strides[i]);
  return out;
}

}  // namespace

result<void> enqueue_stored_pooling(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<pooling_attributes>();
  const bool forward = s.what == op::pooling;
  const location &to = s.outputs[0], &from = s.inputs[0];
  const windows::geometry g =
      windows::geometry::of(a.slides, (forward ? from : to).shape, (forward ? to : from).shape, a.extents);
  kernel_arguments::stored_pooling_arguments r{.count = static_cast<std::uint32_t>(elements_of(to.shape)),
                                               .extents = {1, 1, 1, 1, 1},
                                               .order = {0, 1, 2, 3, 4},
                                               .kind = static_cast<std::int64_t>(a.kind),
                                               .x = stored_image_at(forward               ? from
                                                                    : s.inputs.size() > 1 ? s.inputs[1]
                                                                                          : to,
                                                                    on),
                                               .dy = stored_image_at(from, on),
                                               .to = stored_image_at(to, on)};
  for (std::size_t i = 0; i < to.shape.rank; ++i)
    r.extents[axis_of_kernel(i, to.shape.rank)] = static_cast<std::uint32_t>(to.shape.extents[i]);
  std::ranges::stable_sort(r.order, std::greater<>(),
                           [&](std::uint32_t axis) { return r.extents[axis] == 1 ? UINT32_MAX : r.to.strides[axis]; });
  for (std::size_t i = 0; i < windows::most_spatial; ++i) {
    const auto put = [i](auto& to_put, std::int64_t n) { to_put[i] = static_cast<std::int32_t>(n); };
    put(r.in, g.in[i]), put(r.out, g.out[i]), put(r.window, g.window[i]);
    put(r.padding, g.padding_before[i]), put(r.stride, g.stride[i]), put(r.dilation, g.dilation[i]);
  }
  constexpr unsigned threads = 256;
  const std::int64_t blocks = kernel_arguments::divided_up(r.count, threads);
  return forward ? launch_for_type<"pool_as_stored", float>(on, blocks, threads, r)
                 : launch_for_type<"pool_gradient_as_stored", float>(on, blocks, threads, r);
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
