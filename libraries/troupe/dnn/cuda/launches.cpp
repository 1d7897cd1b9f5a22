// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/cuda/attention_launches.hpp>
#include <troupe/dnn/cuda/elementwise_arguments.hpp>
#include <troupe/dnn/cuda/kernel_arguments.hpp>
#include <troupe/dnn/cuda/launches.hpp>
#include <troupe/dnn/cuda/launching.hpp>
#include <troupe/dnn/cuda/sequences.hpp>
#include <troupe/dnn/generator.hpp>
#include <troupe/dnn/steps/geometry.hpp>

namespace troupe::dnn {
namespace {

using kernel_arguments::set_threads;

// The kernels' operations have the numbers of those of an elementwise kernel.
using kind = elementwise_kernel::operation::kind;
static_assert(static_cast<int>(kind::read) == kernel_arguments::operation::read &&
              static_cast<int>(kind::number) == kernel_arguments::operation::number &&
              static_cast<int>(kind::apply) == kernel_arguments::operation::apply &&
              static_cast<int>(kind::round) == kernel_arguments::operation::round &&
              static_cast<int>(kind::write) == kernel_arguments::operation::write &&
              static_cast<int>(kind::random) == kernel_arguments::operation::random);

// -- sets of elements

// Divides the axes of x into those in `inside`, which are within a set, and the others.
kernel_arguments::sets sets_of(const tensor_shape& x, std::int64_t inside, const tensor_shape* scale = nullptr,
                               const tensor_shape* statistics = nullptr) noexcept {
  kernel_arguments::sets out{};
  out.outside.count = out.inside.count = 1;
  const axis_values of_x = dense_strides(x),
                    of_scale = scale != nullptr ? broadcast_strides(*scale, x.rank, x.extents) : axis_values{},
                    of_statistics =
                        statistics != nullptr ? broadcast_strides(*statistics, x.rank, x.extents) : axis_values{};
  for (std::size_t i = 0; i < x.rank; ++i) {
    kernel_arguments::axis_values& to = (inside >> i & 1) != 0 ? out.inside : out.outside;
    const auto k = static_cast<std::size_t>(to.rank++);
    to.extents[k] = x.extents[i], to.count *= x.extents[i];
    to.x[k] = of_x[i], to.scale[k] = of_scale[i], to.statistics[k] = of_statistics[i];
  }
  return out;
}

result<void> reduce(const operator_step& s, const launch_site& w) {
  const auto f = s.attributes.as<reduction_attributes>();
  const kernel_arguments::reducing r{sets_of(s.inputs[0].shape, f.over), w.at(s.inputs[0]), w.at(s.outputs[0]),
                                     static_cast<std::int64_t>(f.kind)};
  return launch<"reduce">(w, r.all.outside.count, set_threads, r);
}

result<void> softmax(const operator_step& s, const launch_site& w, bool gradient) {
  const auto f = s.attributes.as<softmax_attributes>();
  const location& values = s.inputs[gradient ? 1 : 0];
  const kernel_arguments::softmaxing r{sets_of(values.shape, std::int64_t{1} << f.over), w.at(values),
                                       gradient ? w.at(s.inputs[0]) : nullptr, w.at(s.outputs[0]), f.logarithmic};
  return gradient ? launch<"softmax_gradient">(w, r.all.outside.count, set_threads, r)
                  : launch<"softmax">(w, r.all.outside.count, set_threads, r);
}

std::int64_t grouped_over(const normalization_attributes& f) noexcept {
  if (f.groups <= 1) return f.over;
  // Axis 0 stays, axis 1 is the group, and the axes from axis 1 on are one further.
  return (f.over & 1) | (f.over & ~std::int64_t{1}) << 1;
}

result<void> normalize(const operator_step& s, const launch_site& w) {
  const auto f = s.attributes.as<normalization_attributes>();
  std::size_t next = 1;
  const auto input = [&](bool given) -> const location* { return given ? &s.inputs[next++] : nullptr; };
  const location* const scale = input(f.has_affine != 0);
  const location* const offset = input(f.has_affine != 0 && f.rms == 0);
  const location *const running_mean = input(f.has_running != 0), *const running_variance = input(f.has_running != 0);
  const auto at = [&](const location* l) { return l != nullptr ? w.at(*l) : nullptr; };
  const tensor_shape x = grouped(s.inputs[0].shape, f.groups, false);
  const tensor_shape of_scale = scale != nullptr ? grouped(scale->shape, f.groups, false) : tensor_shape{};
  const kernel_arguments::normalizing r{.all = sets_of(x, grouped_over(f), scale != nullptr ? &of_scale : nullptr),
                                        .x = w.at(s.inputs[0]),
                                        .scale = at(scale),
                                        .offset = at(offset),
                                        .running_mean = at(running_mean),
                                        .running_variance = at(running_variance),
                                        .y = w.at(s.outputs[0]),
                                        .mean = w.at(s.outputs[1]),
                                        .deviation = w.at(s.outputs[2]),
                                        .next_mean = f.has_running != 0 ? w.at(s.outputs[3]) : nullptr,
                                        .next_variance = f.has_running != 0 ? w.at(s.outputs[4]) : nullptr,
                                        .rms = f.rms,
                                        .epsilon = f.epsilon,
                                        .momentum = f.momentum};
  return launch<"normalize">(w, r.all.outside.count, set_threads, r);
}

result<void> normalization_gradient(const operator_step& s, const launch_site& w) {
  const auto f = s.attributes.as<normalization_attributes>();
  const location* const scale = f.has_affine != 0 ? &s.inputs[4] : nullptr;
  const tensor_shape x = grouped(s.inputs[1].shape, f.groups, false),
                     statistics = grouped(s.inputs[2].shape, f.groups, true);
  const tensor_shape of_scale = scale != nullptr ? grouped(scale->shape, f.groups, false) : tensor_shape{};
  kernel_arguments::normalizing_back r{
      .all = sets_of(x, grouped_over(f), scale != nullptr ? &of_scale : nullptr, &statistics),
      .dy = w.at(s.inputs[0]),
      .x = w.at(s.inputs[1]),
      .mean = w.at(s.inputs[2]),
      .deviation = w.at(s.inputs[3]),
      .scale = scale != nullptr ? w.at(*scale) : nullptr,
      .dx = w.at(s.outputs[0]),
      .dscale = nullptr,
      .doffset = nullptr,
      .rms = f.rms};
  TROUPE_TRY(launch<"normalization_gradient">(w, r.all.outside.count, set_threads, r));
  if (scale == nullptr) return {};
  std::int64_t inside = 0;
  for (std::size_t i = 0; i < x.rank; ++i)
    if (of_scale.extents[i] == 1) inside |= std::int64_t{1} << i;
  r.all = sets_of(x, inside, &of_scale, &statistics);
  r.dscale = w.at(s.outputs[1]), r.doffset = f.rms == 0 ? w.at(s.outputs[2]) : nullptr;
  return launch<"scale_gradient">(w, r.all.outside.count, set_threads, r);
}

// -- windows

result<void> convolve(const operator_step& s, const launch_site& w) {
  const auto f = s.attributes.as<convolution_attributes>();
  const bool forward = s.what == op::convolution, of_data = s.what == op::convolution_data_gradient;
  const tensor_shape& image = forward ? s.inputs[0].shape : of_data ? s.outputs[0].shape : s.inputs[1].shape;
  const tensor_shape& filters = forward || of_data ? s.inputs[1].shape : s.outputs[0].shape;
  const tensor_shape& result = forward ? s.outputs[0].shape : s.inputs[0].shape;
  const kernel_arguments::convolving r{.g = windows_of(f.window, image, result, filters.extents.data() + 2),
                                       .images = image.extents[0],
                                       .groups = f.groups,
                                       .channels = filters.extents[1],
                                       .out_channels = filters.extents[0] / f.groups,
                                       .a = w.at(s.inputs[0]),
                                       .b = w.at(s.inputs[1]),
                                       .to = w.at(s.outputs[0])};
  const std::int64_t count = elements_of(s.outputs[0].shape);
  if (forward) return launch_for<"convolve">(w, count, r);
  if (of_data) return launch_for<"convolution_data_gradient">(w, count, r);
  return launch<"convolution_weight_gradient">(w, count, set_threads, r);
}

result<void> pool(const operator_step& s, const launch_site& w) {
  const auto f = s.attributes.as<pooling_attributes>();
  const bool forward = s.what == op::pooling;
  const tensor_shape& image = forward ? s.inputs[0].shape : s.outputs[0].shape;
  const tensor_shape& result = forward ? s.outputs[0].shape : s.inputs[0].shape;
  const kernel_arguments::pooling r{.g = windows_of(f.window, image, result, f.extents),
                                    .planes = image.extents[0] * image.extents[1],
                                    .kind = static_cast<std::int64_t>(f.kind),
                                    .x = forward               ? w.at(s.inputs[0])
                                         : s.inputs.size() > 1 ? w.at(s.inputs[1])
                                                               : nullptr,
                                    .dy = forward ? nullptr : w.at(s.inputs[0]),
                                    .to = w.at(s.outputs[0])};
  const std::int64_t count = elements_of(s.outputs[0].shape);
  return forward ? launch_for<"pool">(w, count, r) : launch_for<"pool_gradient">(w, count, r);
}

result<void> multiply(const operator_step& s, const launch_site& w) {
  const tensor_shape &a = s.inputs[0].shape, &b = s.inputs[1].shape, &c = s.outputs[0].shape;
  const std::size_t rank = c.rank;
  const std::int64_t m = c.extents[rank - 2], n = c.extents[rank - 1], k = a.extents[rank - 1];
  kernel_arguments::multiplying r{.m = m,
                                  .n = n,
                                  .k = k,
                                  .a_row = k,
                                  .a_column = 1,
                                  .b_row = n,
                                  .b_column = 1,
                                  .c_row = n,
                                  .adds = 0,
                                  .batch = {},
                                  .a = w.at(s.inputs[0]),
                                  .b = w.at(s.inputs[1]),
                                  .c = w.at(s.outputs[0])};
  const axis_values of_a = broadcast_strides(a, rank, c.extents), of_b = broadcast_strides(b, rank, c.extents),
                    of_c = dense_strides(c);
  r.batch.count = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    const auto at = static_cast<std::size_t>(r.batch.rank++);
    r.batch.extents[at] = c.extents[i], r.batch.count *= c.extents[i];
    r.batch.x[at] = of_a[i], r.batch.scale[at] = of_b[i], r.batch.statistics[at] = of_c[i];
  }
  return launch_product(w, r);
}

}  // namespace

kernel_arguments::windows windows_of(const sliding& s, const tensor_shape& image, const tensor_shape& result,
                                     const std::int64_t* widths) noexcept {
  const window_geometry g(s, image, result, widths);
  kernel_arguments::windows out{};
  for (std::size_t i = 0; i < most_spatial; ++i) {
    out.in[i] = g.in[i], out.out[i] = g.out[i], out.width[i] = g.width[i];
    out.padding_before[i] = g.padding_before[i], out.stride[i] = g.stride[i], out.dilation[i] = g.dilation[i];
  }
  return out;
}

const elementwise_limits limits_of_kernels{.operations = kernel_arguments::most_operations,
                                           .operands = kernel_arguments::most_operands,
                                           .sequences = kernel_arguments::most_sequences,
                                           .workspace = [](const operator_step& s) -> std::int64_t {
                                             return s.what == op::attention ? attention_workspace_of(s) : 0;
                                           }};

result<void> enqueue_pause(const launch_site& w) { return launch<"pause">(w, 1, 1, kernel_arguments::pausing{}); }

result<void> enqueue(const elementwise_kernel& p, const launch_site& w) {
  const kernel_arguments::elements e = elementwise_arguments(p, [&](const location& l) { return w.at(l); });
  return launch_for<"elements">(w, e.count, e);
}

result<void> enqueue_kernel(CUkernel kernel, const generated::source::kernel& how, const elementwise_kernel& p,
                            const launch_site& w) {
  void* addresses[kernel_arguments::most_operands + kernel_arguments::most_sequences];
  std::size_t n = 0;
  for (const location& l : p.operands) addresses[n++] = l.exists() ? w.at(l) : nullptr;
  for (const elementwise_kernel::sequence& s : p.sequences) addresses[n++] = s.words ? w.at(*s.words) : nullptr;
  return cuda::done_on(w.stream, "dnn", "cuLaunchKernel",
                       cuda::launch(kernel, {how.blocks}, {how.threads}, w.stream, addresses));
}

result<void> enqueue(const operator_step& s, const launch_site& w) {
  switch (s.what) {
    case op::convolution:
    case op::convolution_data_gradient:
    case op::convolution_weight_gradient:
      return convolve(s, w);
    case op::product:
      return multiply(s, w);
    case op::reduction:
      return reduce(s, w);
    case op::normalization:
      return normalize(s, w);
    case op::normalization_gradient:
      return normalization_gradient(s, w);
    case op::pooling:
    case op::pooling_gradient:
      return pool(s, w);
    case op::softmax:
      return softmax(s, w, false);
    case op::softmax_gradient:
      return softmax(s, w, true);
    case op::attention:
      return attend(s, w);
    case op::attention_gradient:
      return find_attention_gradients(s, w);
    case op::local_response_norm:
    case op::local_response_norm_gradient:
    case op::resampling:
    case op::resampling_gradient:
    case op::pooling_with_indexes:
    case op::pooling_index_gradient:
      return enqueue_of_images(s, w);
    case op::block_quantization:
    case op::block_dequantization:
      return enqueue_of_blocks(s, w);
    case op::recurrence:
      return enqueue_recurrence(s, w);
    case op::recurrence_gradient:
      return enqueue_recurrence_gradient(s, w);
    case op::ctc_loss:
    case op::ctc_loss_gradient:
      return enqueue_ctc(s, w);
    case op::none:
    case op::write:
    case op::convert:
    case op::pointwise:
    case op::reshape:
    case op::transposition:
    case op::concatenation:
    case op::slice:
    case op::random:
      break;
  }
  return error(reaction::fatal, "dnn", cat("a plan has ", to_string(s.what), " as a step of its own"));
}

}  // namespace troupe::dnn
