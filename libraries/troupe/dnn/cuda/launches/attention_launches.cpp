// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/try.hpp>
#include <troupe/dnn/cuda/kernels/attention_arguments.hpp>
#include <troupe/dnn/cuda/launches/attention_decoding.hpp>
#include <troupe/dnn/cuda/launches/attention_launches.hpp>
#include <troupe/dnn/cuda/launches/enqueue_functions.hpp>
#include <troupe/dnn/cuda/launches/launch_templates.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/steps/attention_steps.hpp>

namespace troupe::dnn {
namespace {

using kernel_arguments::attention_arguments, kernel_arguments::query_grid, kernel_arguments::divided_up;

// Returns true if tiles have so few rows of q that loading the keys takes most of the time.
bool has_small_tiles(const attention_geometry& g) noexcept {
  return kernel_arguments::rows_of_sequence(g) <= kernel_arguments::small_tile_rows;
}

std::int64_t rows_of_square(dtype numbers) noexcept {
  return numbers == dtype::f32 ? kernel_arguments::square_rows<float> : kernel_arguments::square_rows<double>;
}

// Returns the number of parts into which keys are divided. It is the same on all GPUs, so that results are the same. It
// follows from the extents, since the lengths of sequences are in the GPU's memory.
std::int64_t parts_of(const attention_geometry& g, dtype numbers) noexcept {
  constexpr std::int64_t enough_blocks = 512, least_keys = 256, most_parts = 64;
  const query_grid grid(g, has_small_tiles(g) ? kernel_arguments::small_tile_rows : rows_of_square(numbers));
  return std::clamp<std::int64_t>(std::min(enough_blocks / grid.count(), g.keys / least_keys), 1, most_parts);
}

attention_arguments arguments_of(const operator_step& s, const launch_context& on) {
  const auto a = s.attributes.as<attention_attributes>();
  const bool gradient = s.what == op::attention_gradient;
  const attention_inputs at(a, gradient);
  return {.g = geometry_of(s, [&](const location& l) { return on.at(l); }),
          .parts = 1,
          .q = on.at(s.inputs[at.q]),
          .k = on.at(s.inputs[at.k]),
          .v = on.at(s.inputs[at.v]),
          .bias = a.has_bias != 0 ? on.at(s.inputs[at.bias]) : nullptr,
          .dy = on.at(s.input(at.dy)),
          .y = on.at(s.input(at.y)),
          .statistics = on.at(s.input(at.statistics)),
          .to = on.at(s.outputs[0]),
          .second = on.at(s.outputs[1]),
          .workspace = s.workspace.is_buffer ? on.at(s.workspace) : nullptr,
          .type_of_y = s.outputs[0].type};
}

}  // namespace

std::int64_t attention_workspace_of(const operator_step& s) noexcept {
  const attention_geometry g = geometry_of(s, [](const location&) -> void* { return nullptr; });
  const std::int64_t parts = is_stored_type_attention(s) ? parts_of_decoding(g) : parts_of(g, s.outputs[1].type);
  return parts == 1 ? 0 : parts * kernel_arguments::rows_of(g) * kernel_arguments::row_workspace_of(g);
}

result<void> enqueue_attention(const operator_step& s, const launch_context& on) {
  attention_arguments a = arguments_of(s, on);
  const bool decodes = is_stored_type_attention(s);
  a.parts = decodes ? parts_of_decoding(a.g) : parts_of(a.g, on.plan.compute_type);
  if (decodes) {
    TROUPE_TRY(enqueue_decoding(s, a, on));
  } else if (has_small_tiles(a.g)) {
    const std::int64_t slices = divided_up(a.g.value_width, kernel_arguments::small_tile_columns);
    const query_grid grid(a.g, kernel_arguments::small_tile_rows);
    TROUPE_TRY(
        launch<"attend_small_tiles">(on, grid.count() * a.parts * slices, kernel_arguments::small_tile_threads, a));
  } else {
    const std::int64_t slices = divided_up(a.g.value_width, kernel_arguments::square_columns);
    const query_grid grid(a.g, rows_of_square(on.plan.compute_type));
    TROUPE_TRY(launch<"attend">(on, grid.count() * a.parts * slices, kernel_arguments::attention_threads, a));
  }
  if (a.parts == 1) return {};
  return launch_per_element<"combine_attention">(on, elements_of(s.outputs[0].shape), a);
}

result<void> enqueue_attention_gradient(const operator_step& s, const launch_context& on) {
  using kernel_arguments::attention_threads, kernel_arguments::square_columns;
  attention_arguments a = arguments_of(s, on);
  const attention_geometry& g = a.g;
  const std::int64_t rows = rows_of_square(on.plan.compute_type);
  TROUPE_TRY(launch<"attention_query_gradient">(on, query_grid(g, rows).count() * divided_up(g.width, square_columns),
                                                attention_threads, a));
  a.to = on.at(s.outputs[1]), a.second = on.at(s.outputs[2]);
  const std::int64_t rows_of_batch = g.key_layout == sequence_layout::offsets ? 1 : g.batch,
                     slices = divided_up(std::max(g.width, g.value_width), square_columns);
  TROUPE_TRY(launch<"attention_key_gradient">(on, rows_of_batch * g.key_heads * divided_up(g.keys, rows) * slices,
                                              attention_threads, a));
  if (a.bias == nullptr) return {};
  a.to = on.at(s.outputs[3]);
  const std::int64_t* const e = g.bias_extents;
  return launch<"attention_bias_gradient">(on, e[0] * e[1] * divided_up(e[2], rows) * divided_up(e[3], rows),
                                           attention_threads, a);
}

}  // namespace troupe::dnn
