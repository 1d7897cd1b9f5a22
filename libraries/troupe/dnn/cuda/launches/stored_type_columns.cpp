// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <troupe/base/try.hpp>
#include <troupe/dnn/cuda/kernels/columns_arguments.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/cuda/launches/stored_type.hpp>
#include <troupe/dnn/cuda/launches/stored_type_columns.hpp>
#include <type_traits>

namespace troupe::dnn {
namespace {

using namespace kernel_arguments;

// Kernels count parts in 32 bits.
constexpr std::int64_t most_rows = std::int64_t{1} << 31;

std::optional<columns> columns_of(const normalization_attributes& a, const tensor_shape& x) noexcept {
  const std::int64_t all_but_channels = ((std::int64_t{1} << x.rank) - 1) & ~std::int64_t{2};
  if (a.groups > 1 || a.rms != 0 || x.rank < 2 || a.over != all_but_channels || x.extents[1] % 8 != 0)
    return std::nullopt;
  columns c{.rows = 1, .channels = x.extents[1], .rows_of_part = 1, .parts = 1, .lanes = 1, .groups = 1};
  for (std::size_t i = 0; i < x.rank; ++i)
    if (i != 1) c.rows *= x.extents[i];
  if (c.rows > most_rows) return std::nullopt;
  const auto lanes = static_cast<std::uint64_t>(c.channels / 8);
  c.lanes = static_cast<std::uint32_t>(std::min<std::uint64_t>(most_lanes, std::bit_ceil(lanes)));
  c.groups = static_cast<std::uint32_t>(divided_up(c.channels / 8, c.lanes));
  return c;
}
// Divides the rows into parts. A thread reads `reads` rows of each.
columns divided(columns c, std::int64_t reads) noexcept {
  c.rows_of_part = reads * (column_threads / c.lanes);
  c.parts = static_cast<std::uint32_t>(divided_up(c.rows, c.rows_of_part));
  return c;
}
// Divides the rows for sums. The parts are the same on all GPUs, so that results are the same.
columns for_sums(const columns& c) noexcept {
  constexpr std::int64_t fewest = 4, most = 256, enough_blocks = 528;
  const std::int64_t reads = divided_up(c.rows, column_threads / c.lanes),
                     parts = std::max<std::int64_t>(1, enough_blocks / c.groups);
  return divided(c, std::clamp(divided_up(reads, parts), fewest, most));
}
columns for_elements(const columns& c) noexcept { return divided(c, 4); }

std::int64_t sums_of(const columns& c) noexcept { return std::int64_t{c.parts} * c.channels; }

template <fixed_string Name, class N, class A>
result<void> launch_tiles(const launch_context& on, const A& arguments) {
  return launch_for_type<Name, N>(on, std::int64_t{arguments.all.parts} * arguments.all.groups, column_threads,
                                  arguments);
}
template <fixed_string Name, class A>
result<void> launch_combining(const launch_context& on, const A& arguments) {
  return launch_for_type<Name, float>(on, divided_up(arguments.all.channels, channels_of_block), column_threads,
                                      arguments);
}

}  // namespace

std::optional<std::uint64_t> column_workspace_of(op what, const normalization_attributes& a,
                                                 const tensor_shape& x) noexcept {
  const auto all = columns_of(a, x);
  if (!all) return std::nullopt;
  const std::int64_t means = what == op::normalization ? 0 : 2 * all->channels;
  return static_cast<std::uint64_t>(2 * sums_of(for_sums(*all))) * sizeof(double) +
         static_cast<std::uint64_t>(means) * sizeof(float);
}

bool is_of_columns(const operator_step& s) noexcept {
  const auto a = s.attributes.as<normalization_attributes>();
  const tensor_shape& x = s.inputs[normalization_inputs(s.what, a).x].shape;
  return columns_of(a, x) && x.strides[1] == 1;
}

result<void> enqueue_column_normalization(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<normalization_attributes>();
  const normalization_places at(a);
  const columns all = *columns_of(a, s.inputs[at.x].shape), summands = for_sums(all);
  const auto input = [&](std::size_t k) { return static_cast<float*>(on.at(s.input(k))); };
  const auto output = [&](std::size_t k) { return static_cast<float*>(on.at(s.output(k))); };
  const typed_memory x = typed_memory_at(s.inputs[at.x], on);
  auto* const sums = static_cast<double*>(on.at(s.workspace));
  const sum_columns_arguments summed{summands, x, sums, sums + sums_of(summands)};
  const combine_columns_arguments combined{.all = summands,
                                           .sums = summed.sums,
                                           .squares = summed.squares,
                                           .mean = output(at.mean),
                                           .deviation = output(at.deviation),
                                           .running_mean = input(at.running_mean),
                                           .running_variance = input(at.running_variance),
                                           .next_mean = output(at.next_mean),
                                           .next_variance = output(at.next_variance),
                                           .epsilon = a.epsilon,
                                           .momentum = a.momentum};
  const normalize_columns_arguments normalized{.all = for_elements(all),
                                               .x = x,
                                               .mean = combined.mean,
                                               .deviation = combined.deviation,
                                               .scale = input(at.scale),
                                               .offset = input(at.offset),
                                               .y = on.at(s.outputs[at.y]),
                                               .type_of_y = s.outputs[at.y].type};
  const auto launch_all = [&]<class T>(std::type_identity<T>) -> result<void> {
    TROUPE_TRY((launch_tiles<"sum_columns", T>(on, summed)));
    TROUPE_TRY((launch_combining<"combine_columns">(on, combined)));
    return launch_tiles<"normalize_columns", T>(on, normalized);
  };
  return x.type == dtype::f32 ? launch_all(std::type_identity<float>{}) : launch_all(std::type_identity<half>{});
}

result<void> enqueue_column_normalization_gradient(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<normalization_attributes>();
  const normalization_gradient_places at(a);
  const columns all = *columns_of(a, s.inputs[at.x].shape), summands = for_sums(all);
  const auto input = [&](std::size_t k) { return static_cast<const float*>(on.at(s.input(k))); };
  const auto output = [&](std::size_t k) { return static_cast<float*>(on.at(s.output(k))); };
  const typed_memory dy = typed_memory_at(s.inputs[at.dy], on), x = typed_memory_at(s.inputs[at.x], on);
  const float *const mean = input(at.mean), *const deviation = input(at.deviation);
  auto* const sums = static_cast<double*>(on.at(s.workspace));
  const sum_columns_gradient_arguments summed{summands, dy, x, mean, deviation, sums, sums + sums_of(summands)};
  auto* const means = reinterpret_cast<float*>(sums + 2 * sums_of(summands));
  const combine_columns_gradient_arguments combined{.all = summands,
                                                    .gradients = summed.gradients,
                                                    .along = summed.along,
                                                    .mean_gradient = means,
                                                    .mean_along = means + all.channels,
                                                    .dscale = output(at.dscale),
                                                    .doffset = output(at.doffset)};
  const normalize_columns_gradient_arguments normalized{.all = for_elements(all),
                                                        .dy = dy,
                                                        .x = x,
                                                        .mean = mean,
                                                        .deviation = deviation,
                                                        .mean_gradient = combined.mean_gradient,
                                                        .mean_along = combined.mean_along,
                                                        .scale = input(at.scale),
                                                        .dx = on.at(s.outputs[at.dx]),
                                                        .type_of_dx = s.outputs[at.dx].type};
  const auto launch_all = [&]<fixed_string Sum, fixed_string Normalize, class N>() -> result<void> {
    TROUPE_TRY((launch_tiles<Sum, N>(on, summed)));
    TROUPE_TRY((launch_combining<"combine_columns_gradient">(on, combined)));
    return launch_tiles<Normalize, N>(on, normalized);
  };
  if (x.type == dtype::f32)
    return launch_all.template operator()<"sum_columns_gradient", "normalize_columns_gradient", float>();
  if (dy.type != dtype::f32)
    return launch_all.template operator()<"sum_columns_gradient", "normalize_columns_gradient", half>();
  return launch_all.template operator()<"sum_mixed_columns_gradient", "normalize_mixed_columns_gradient", float>();
}

}  // namespace troupe::dnn
