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

std::int64_t grouped_over(const normalization_attributes& f) noexcept {
  if (f.groups <= 1) return f.over;
  // The split of axis 1 into group and channel moves the axes from the channel on up by 1.
  return (f.over & 1) | (f.over & ~std::int64_t{1}) << 1;
}

}  // namespace

result<void> enqueue_normalization(const operator_step& s, const launch_context& w) {
  const auto f = s.attributes.as<normalization_attributes>();
  const normalization_places at(f);
  const location* const scale = s.input(at.scale);
  const tensor_shape x = grouped(s.inputs[at.x].shape, f.groups, false);
  const tensor_shape of_scale = scale != nullptr ? grouped(scale->shape, f.groups, false) : tensor_shape{};
  const kernel_arguments::normalization_arguments r{
      .all = sets_of(x, grouped_over(f), scale != nullptr ? &of_scale : nullptr),
      .x = w.at(s.inputs[at.x]),
      .scale = w.at(scale),
      .offset = w.at(s.input(at.offset)),
      .running_mean = w.at(s.input(at.running_mean)),
      .running_variance = w.at(s.input(at.running_variance)),
      .y = w.at(s.outputs[at.y]),
      .mean = w.at(s.outputs[at.mean]),
      .deviation = w.at(s.outputs[at.deviation]),
      .next_mean = w.at(s.output(at.next_mean)),
      .next_variance = w.at(s.output(at.next_variance)),
      .rms = f.rms,
      .epsilon = f.epsilon,
      .momentum = f.momentum};
  return launch<"normalize">(w, r.all.outside.count, set_threads, r);
}

result<void> enqueue_normalization_gradient(const operator_step& s, const launch_context& w) {
  const auto f = s.attributes.as<normalization_gradient_attributes>();
  const normalization_gradient_places at(f);
  const location* const scale = s.input(at.scale);
  const tensor_shape x = grouped(s.inputs[at.x].shape, f.groups, false),
                     statistics = grouped(s.inputs[at.mean].shape, f.groups, true);
  const tensor_shape of_scale = scale != nullptr ? grouped(scale->shape, f.groups, false) : tensor_shape{};
  kernel_arguments::normalization_gradient_arguments r{
      .all = sets_of(x, grouped_over(f), scale != nullptr ? &of_scale : nullptr, &statistics),
      .dy = w.at(s.inputs[at.dy]),
      .x = w.at(s.inputs[at.x]),
      .mean = w.at(s.inputs[at.mean]),
      .deviation = w.at(s.inputs[at.deviation]),
      .scale = w.at(scale),
      .dx = w.at(s.outputs[at.dx]),
      .dscale = nullptr,
      .doffset = nullptr,
      .rms = f.rms};
  TROUPE_TRY(launch<"normalization_gradient">(w, r.all.outside.count, set_threads, r));
  if (scale == nullptr) return {};
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < x.rank; ++i)
    if (of_scale.extents[i] == 1) inside |= std::int64_t{1} << i;
  r.all = sets_of(x, inside, &of_scale, &statistics);
  r.dscale = w.at(s.outputs[at.dscale]), r.doffset = w.at(s.output(at.doffset));
  return launch<"scale_gradient">(w, r.all.outside.count, set_threads, r);
}

}  // namespace troupe::dnn
