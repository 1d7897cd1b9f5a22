// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/try.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/steps/geometry.hpp>

namespace troupe::dnn {
namespace {

using kernel_arguments::set_threads;

std::int64_t grouped_over(const normalization_attributes& a) noexcept {
  if (a.groups <= 1) return a.over;
  // The split of axis 1 into group and channel moves the axes from the channel on up by 1.
  return (a.over & 1) | (a.over & ~std::int64_t{1}) << 1;
}

}  // namespace

result<void> enqueue_normalization(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<normalization_attributes>();
  const normalization_places at(a);
  const location* const scale = s.input(at.scale);
  const tensor_shape x = grouped(s.inputs[at.x].shape, a.groups, false);
  const tensor_shape of_scale = scale != nullptr ? grouped(scale->shape, a.groups, false) : tensor_shape{};
  const kernel_arguments::normalization_arguments r{
      .all = sets_of(x, grouped_over(a), scale != nullptr ? &of_scale : nullptr),
      .x = on.at(s.inputs[at.x]),
      .scale = on.at(scale),
      .offset = on.at(s.input(at.offset)),
      .running_mean = on.at(s.input(at.running_mean)),
      .running_variance = on.at(s.input(at.running_variance)),
      .y = on.at(s.outputs[at.y]),
      .mean = on.at(s.outputs[at.mean]),
      .deviation = on.at(s.outputs[at.deviation]),
      .next_mean = on.at(s.output(at.next_mean)),
      .next_variance = on.at(s.output(at.next_variance)),
      .rms = a.rms,
      .epsilon = a.epsilon,
      .momentum = a.momentum};
  return launch<"normalize">(on, r.all.outside.count, set_threads, r);
}

result<void> enqueue_normalization_gradient(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<normalization_gradient_attributes>();
  const normalization_gradient_places at(a);
  const location* const scale = s.input(at.scale);
  const tensor_shape x = grouped(s.inputs[at.x].shape, a.groups, false),
                     statistics = grouped(s.inputs[at.mean].shape, a.groups, true);
  const tensor_shape of_scale = scale != nullptr ? grouped(scale->shape, a.groups, false) : tensor_shape{};
  kernel_arguments::normalization_gradient_arguments r{
      .all = sets_of(x, grouped_over(a), scale != nullptr ? &of_scale : nullptr, &statistics),
      .dy = on.at(s.inputs[at.dy]),
      .x = on.at(s.inputs[at.x]),
      .mean = on.at(s.inputs[at.mean]),
      .deviation = on.at(s.inputs[at.deviation]),
      .scale = on.at(scale),
      .dx = on.at(s.outputs[at.dx]),
      .dscale = nullptr,
      .doffset = nullptr,
      .rms = a.rms};
  TROUPE_TRY(launch<"normalization_gradient">(on, r.all.outside.count, set_threads, r));
  if (scale == nullptr) return {};
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < x.rank; ++i)
    if (of_scale.extents[i] == 1) inside |= std::int64_t{1} << i;
  r.all = sets_of(x, inside, &of_scale, &statistics);
  r.dscale = on.at(s.outputs[at.dscale]), r.doffset = on.at(s.output(at.doffset));
  return launch<"scale_gradient">(on, r.all.outside.count, set_threads, r);
}

}  // namespace troupe::dnn
