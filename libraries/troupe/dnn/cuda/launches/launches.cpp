// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/cat.hpp>
#include <troupe/base/try.hpp>
#include <troupe/dnn/cuda/kernels/kernel_arguments.hpp>
#include <troupe/dnn/cuda/launches/attention_launches.hpp>
#include <troupe/dnn/cuda/launches/elementwise_arguments.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/cuda/launches/launches.hpp>
#include <troupe/dnn/cuda/launches/sequences.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/operations/random/generator.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/windows/sliding.hpp>
#include <troupe/dnn/steps/geometry.hpp>

namespace troupe::dnn {
namespace {

using kernel_arguments::set_threads;

// kernel_arguments::operation has the enumerators of elementwise_kernel::operation, with equal values.
using kind = elementwise_kernel::operation::kind;
static_assert(static_cast<int>(kind::read) == kernel_arguments::operation::read &&
              static_cast<int>(kind::number) == kernel_arguments::operation::number &&
              static_cast<int>(kind::apply) == kernel_arguments::operation::apply &&
              static_cast<int>(kind::round) == kernel_arguments::operation::round &&
              static_cast<int>(kind::write) == kernel_arguments::operation::write &&
              static_cast<int>(kind::random) == kernel_arguments::operation::random);

// -- sets of elements

// Divides the axes of x: those whose bits are in `inside` iterate the elements of a set, the others the sets.
kernel_arguments::sets sets_of(const tensor_shape& x, std::int64_t inside, const tensor_shape* scale = nullptr,
                               const tensor_shape* statistics = nullptr) noexcept {
  kernel_arguments::sets out{};
  out.outside.count = out.inside.count = 1;
  const axis_values of_x = dense_strides(x),
                    of_scale = scale != nullptr ? broadcast_strides(*scale, x.rank, x.extents) : axis_values{},
                    of_statistics =
                        statistics != nullptr ? broadcast_strides(*statistics, x.rank, x.extents) : axis_values{};
  for (std::size_t i = 0; i < x.rank; ++i) {
    kernel_arguments::set_axes& to = (inside >> i & 1) != 0 ? out.inside : out.outside;
    const auto k = static_cast<std::size_t>(to.rank++);
    to.extents[k] = x.extents[i], to.count *= x.extents[i];
    to.x[k] = of_x[i], to.scale[k] = of_scale[i], to.statistics[k] = of_statistics[i];
  }
  return out;
}

result<void> enqueue_reduction(const operator_step& s, const execution_context& w) {
  const auto f = s.attributes.as<reduction_attributes>();
  const kernel_arguments::reduction_arguments r{sets_of(s.inputs[0].shape, f.over), w.at(s.inputs[0]),
                                                w.at(s.outputs[0]), static_cast<std::int64_t>(f.kind)};
  return launch<"reduce">(w, r.all.outside.count, set_threads, r);
}

result<void> enqueue_softmax(const operator_step& s, const execution_context& w, bool gradient) {
  const auto f = s.attributes.as<softmax_attributes>();
  const location& values = s.inputs[gradient ? 1 : 0];
  const kernel_arguments::softmax_arguments r{sets_of(values.shape, std::int64_t{1} << f.over), w.at(values),
                                              gradient ? w.at(s.inputs[0]) : nullptr, w.at(s.outputs[0]),
                                              f.logarithmic};
  return gradient ? launch<"softmax_gradient">(w, r.all.outside.count, set_threads, r)
                  : launch<"softmax">(w, r.all.outside.count, set_threads, r);
}

std::int64_t grouped_over(const normalization_attributes& f) noexcept {
  if (f.groups <= 1) return f.over;
  // After the split of axis 1 into group and channel, the axes from the channel on have indexes higher by 1.
  return (f.over & 1) | (f.over & ~std::int64_t{1}) << 1;
}

result<void> enqueue_normalization(const operator_step& s, const execution_context& w) {
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

result<void> enqueue_normalization_gradient(const operator_step& s, const execution_context& w) {
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

// -- windows

result<void> enqueue_convolution(const operator_step& s, const execution_context& w) {
  const auto f = s.attributes.as<convolution_attributes>();
  const bool forward = s.what == op::convolution, of_data = s.what == op::convolution_data_gradient;
  const auto [image, filters, result] =
      convolution_roles<const tensor_shape&>::of(s.what, s.inputs[0].shape, s.inputs[1].shape, s.outputs[0].shape);
  const kernel_arguments::convolution_arguments r{.g = windows_of(f.window, image, result, filters.extents.data() + 2),
                                                  .images = image.extents[0],
                                                  .groups = f.groups,
                                                  .channels = filters.extents[1],
                                                  .out_channels = filters.extents[0] / f.groups,
                                                  .a = w.at(s.inputs[0]),
                                                  .b = w.at(s.inputs[1]),
                                                  .to = w.at(s.outputs[0])};
  const std::int64_t count = elements_of(s.outputs[0].shape);
  if (forward) return launch_per_element<"convolve">(w, count, r);
  if (of_data) return launch_per_element<"convolution_data_gradient">(w, count, r);
  return launch<"convolution_weight_gradient">(w, count, set_threads, r);
}

result<void> enqueue_pooling(const operator_step& s, const execution_context& w) {
  const auto f = s.attributes.as<pooling_attributes>();
  const bool forward = s.what == op::pooling;
  const tensor_shape& image = forward ? s.inputs[0].shape : s.outputs[0].shape;
  const tensor_shape& result = forward ? s.outputs[0].shape : s.inputs[0].shape;
  const kernel_arguments::pooling_arguments r{.g = windows_of(f.window, image, result, f.extents),
                                              .planes = image.extents[0] * image.extents[1],
                                              .kind = static_cast<std::int64_t>(f.kind),
                                              .x = forward               ? w.at(s.inputs[0])
                                                   : s.inputs.size() > 1 ? w.at(s.inputs[1])
                                                                         : nullptr,
                                              .dy = forward ? nullptr : w.at(s.inputs[0]),
                                              .to = w.at(s.outputs[0])};
  const std::int64_t count = elements_of(s.outputs[0].shape);
  return forward ? launch_per_element<"pool">(w, count, r) : launch_per_element<"pool_gradient">(w, count, r);
}

result<void> enqueue_product(const operator_step& s, const execution_context& w) {
  const tensor_shape &a = s.inputs[0].shape, &b = s.inputs[1].shape, &c = s.outputs[0].shape;
  const std::size_t rank = c.rank;
  const std::int64_t m = c.extents[rank - 2], n = c.extents[rank - 1], k = a.extents[rank - 1];
  kernel_arguments::product_arguments r{.m = m,
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
    r.batch.a[at] = of_a[i], r.batch.b[at] = of_b[i], r.batch.c[at] = of_c[i];
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

result<void> enqueue_order_barrier(const execution_context& w) {
  return launch<"order_barrier">(w, 1, 1, kernel_arguments::order_barrier_arguments{});
}

result<void> enqueue(const elementwise_kernel& p, const execution_context& w) {
  const kernel_arguments::elements e = elementwise_arguments(p, [&](const location& l) { return w.at(l); });
  return launch_per_element<"elements">(w, e.count, e);
}

result<void> enqueue_generated(CUkernel kernel, const generated::source::kernel& how, const elementwise_kernel& p,
                               const execution_context& w) {
  void* addresses[kernel_arguments::most_operands + kernel_arguments::most_sequences];
  std::size_t n = 0;
  for (const location& l : p.operands) addresses[n++] = l.exists() ? w.at(l) : nullptr;
  for (const elementwise_kernel::sequence& s : p.sequences) addresses[n++] = s.words ? w.at(*s.words) : nullptr;
  return cuda::done_on(w.stream, "dnn", "cuLaunchKernel",
                       cuda::launch(kernel, {how.blocks}, {how.threads}, w.stream, addresses));
}

result<void> enqueue(const operator_step& s, const execution_context& w) {
  switch (s.what) {
    case op::convolution:
    case op::convolution_data_gradient:
    case op::convolution_weight_gradient:
      return enqueue_convolution(s, w);
    case op::product:
      return enqueue_product(s, w);
    case op::reduction:
      return enqueue_reduction(s, w);
    case op::normalization:
      return enqueue_normalization(s, w);
    case op::normalization_gradient:
      return enqueue_normalization_gradient(s, w);
    case op::pooling:
    case op::pooling_gradient:
      return enqueue_pooling(s, w);
    case op::softmax:
      return enqueue_softmax(s, w, false);
    case op::softmax_gradient:
      return enqueue_softmax(s, w, true);
    case op::attention:
      return enqueue_attention(s, w);
    case op::attention_gradient:
      return enqueue_attention_gradient(s, w);
    case op::local_response_norm:
    case op::local_response_norm_gradient:
    case op::resampling:
    case op::resampling_gradient:
    case op::pooling_with_indexes:
    case op::pooling_index_gradient:
      return enqueue_image_step(s, w);
    case op::block_quantization:
    case op::block_dequantization:
      return enqueue_block_step(s, w);
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
