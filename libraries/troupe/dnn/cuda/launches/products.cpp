// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/cuda/launches/reductions.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/steps/geometry.hpp>

namespace troupe::dnn {

using kernel_arguments::set_threads;

namespace {

// Returns the number of parts of each set. It is the same on all GPUs, so that results are the same.
std::int64_t parts_of(const kernel_arguments::sets& all) noexcept {
  constexpr std::int64_t enough_blocks = 1024, fewest_elements = 4096;
  if (all.outside.count == 0) return 1;
  return std::clamp<std::int64_t>(all.inside.count / fewest_elements, 1,
                                  kernel_arguments::divided_up(enough_blocks, all.outside.count));
}

}  // namespace

std::int64_t reduction_workspace_of(const operator_step& s) noexcept {
  const auto all = sets_of(s.inputs[0].shape, s.attributes.as<reduction_attributes>().over);
  const std::int64_t parts = parts_of(all);
  return parts == 1 ? 0 : all.outside.count * parts * static_cast<std::int64_t>(sizeof(double) / sizeof(float));
}

result<void> enqueue_reduction(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<reduction_attributes>();
  kernel_arguments::reduction_arguments r{.all = sets_of(s.inputs[0].shape, a.over),
                                          .x = on.at(s.inputs[0]),
                                          .y = on.at(s.outputs[0]),
                                          .kind = static_cast<std::int64_t>(a.kind),
                                          .parts = 1,
                                          .partial = nullptr};
  r.parts = parts_of(r.all);
  if (r.parts == 1) return launch<"reduce">(on, r.all.outside.count, set_threads, r);
  r.partial = static_cast<double*>(on.at(s.workspace));
  TROUPE_TRY(launch<"reduce">(on, r.all.outside.count * r.parts, set_threads, r));
  return launch<"reduce_parts">(on, r.all.outside.count, set_threads, r);
}

result<void> enqueue_softmax(const operator_step& s, const launch_context& on) {
  const bool gradient = s.what == op::softmax_gradient;
  const auto a = s.attributes.as<softmax_attributes>();
  const location& values = s.inputs[gradient ? 1 : 0];
  const kernel_arguments::softmax_arguments r{sets_of(values.shape, std::int64_t{1} << a.over), on.at(values),
                                              gradient ? on.at(s.inputs[0]) : nullptr, on.at(s.outputs[0]),
                                              a.logarithmic};
  return gradient ? launch<"softmax_gradient">(on, r.all.outside.count, set_threads, r)
                  : launch<"softmax">(on, r.all.outside.count, set_threads, r);
}

result<void> enqueue_product(const operator_step& s, const launch_context& on) {
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
                                        .a = on.at(s.inputs[0]),
                                        .b = on.at(s.inputs[1]),
                                        .c = on.at(s.outputs[0])};
  const axis_values of_a = broadcast_strides(a, rank, c.extents), of_b = broadcast_strides(b, rank, c.extents),
                    of_c = dense_strides(c);
  r.batch.count = 1;
  for (std::size_t i = 0; i + 2 < rank; ++i) {
    const auto at = static_cast<std::size_t>(r.batch.rank++);
    r.batch.extents[at] = c.extents[i], r.batch.count *= c.extents[i];
    r.batch.a[at] = of_a[i], r.batch.b[at] = of_b[i], r.batch.c[at] = of_c[i];
  }
  return launch_product(on, r);
}

}  // namespace troupe::dnn
