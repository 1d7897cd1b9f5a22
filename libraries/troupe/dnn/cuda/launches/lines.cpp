// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <troupe/dnn/cuda/kernels/kernel_image_arguments.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/operations/cumulative/attributes.hpp>
#include <troupe/dnn/operations/selection/attributes.hpp>
#include <troupe/dnn/steps/geometry.hpp>

// Operations on the lines along an axis.
namespace troupe::dnn {

using kernel_arguments::divided_up, kernel_arguments::line_threads;

result<void> enqueue_cumulative_sum(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<cumulative_attributes>();
  const lines_along lines = lines_of(s.inputs[0].shape, a.axis);
  constexpr std::int64_t most_columns = 32;
  const kernel_arguments::cumulative_arguments r{
      .outer = lines.outer,
      .extent = lines.extent,
      .inner = lines.inner,
      .columns =
          static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(std::min(most_columns, lines.inner)))),
      .exclusive = a.exclusive,
      .reversed = a.reversed,
      .x = on.at(s.inputs[0]),
      .y = on.at(s.outputs[0])};
  return launch<"cumulative_sum">(on, r.outer * divided_up(r.inner, r.columns), line_threads, r);
}

result<void> enqueue_top_k(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<selection_attributes>();
  const lines_along lines = lines_of(s.inputs[0].shape, a.axis);
  const kernel_arguments::top_k_arguments r{.outer = lines.outer,
                                            .extent = lines.extent,
                                            .inner = lines.inner,
                                            .count = s.outputs[0].shape.extents[static_cast<std::size_t>(a.axis)],
                                            .smallest = a.smallest,
                                            .x = on.at(s.inputs[0]),
                                            .values = on.at(s.outputs[0]),
                                            .indexes = on.at(s.outputs[1]),
                                            .chosen = static_cast<std::int32_t*>(on.at(s.workspace))};
  const std::int64_t all = r.outer * r.inner;
  if (r.extent <= line_threads)
    return launch<"top_k_of_few">(on, divided_up(all, line_threads / r.extent), line_threads, r);
  return launch<"top_k">(on, all, line_threads, r);
}

}  // namespace troupe::dnn
