// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <functional>
#include <numeric>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/steps/geometry.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>

namespace troupe::dnn {

tensor_shape with_dense_strides(tensor_shape s, bool channels_last) noexcept {
  s.strides = dense_strides(s);
  if (!channels_last) return s;
  std::int64_t stride = s.extents[1];
  s.strides[1] = 1;
  for (std::size_t i = s.rank; i-- > 2; stride *= s.extents[i]) s.strides[i] = stride;
  s.strides[0] = stride;
  return s;
}

fusion_match::tensor graph_analysis::dense_operand(std::uint16_t t, dtype type, bool channels_last) const noexcept {
  const encoded_tensor& of = tensor(t);
  const std::uint16_t memory = read.memory_of(t);
  const bool is_unaligned = memory != no_tensor && !aligned[memory];
  return {t, type, with_dense_strides(of.shape, channels_last), is_unaligned};
}

bool is_read_in_any_order(const encoded_graph& g, const def_use& uses, std::uint16_t t) noexcept {
  return std::ranges::all_of(uses.readers_of(t), [&](std::size_t reader) {
    const op what = g.nodes()[reader].what;
    return is_elementwise(what) || what == op::reduction || what == op::normalization ||
           what == op::normalization_gradient || what == op::softmax || what == op::softmax_gradient;
  });
}

bool is_packed(const tensor_shape& s) noexcept {
  return elements_of(s) == spanned_elements_of(s) &&
         std::ranges::all_of(std::span(s.strides).first(s.rank), [](std::int64_t n) { return n >= 0; });
}

tensor_shape packed_like(const tensor_shape& like, tensor_shape of) noexcept {
  std::array<std::size_t, tensor_shape::max_rank> order{};
  const auto axes = std::span(order).first(of.rank);
  std::iota(axes.begin(), axes.end(), std::size_t{0});
  std::ranges::stable_sort(axes, std::greater<>(),
                           [&](std::size_t i) { return like.extents[i] == 1 ? INT64_MAX : like.strides[i]; });
  std::int64_t stride = 1;
  for (std::size_t i = of.rank; i-- > 0; stride *= of.extents[order[i]]) of.strides[order[i]] = stride;
  return of;
}

namespace {

tensor_shape expected_shape(const graph_analysis& g, std::uint16_t t, int most_nodes);

// Returns the shape of a result of an elementwise node: as a match needs it, or like what it is computed from.
tensor_shape expected_result(const graph_analysis& g, const encoded_node& n, std::uint16_t t, int most_nodes) {
  const tensor_shape& of = g.tensor(t).shape;
  if (const tensor_shape* const needed = g.needed_shape(t)) return *needed;
  if (is_read_in_any_order(g.graph, g.uses, t))
    for (std::size_t k = 0; k < n.input_count; ++k)
      if (same_extents(g.tensor(n.inputs[k]).shape, of))
        if (const tensor_shape like = expected_shape(g, n.inputs[k], most_nodes - 1); is_packed(like)) return like;
  return with_dense_strides(of, false);
}

// Follows at most `most_nodes` nodes back: a chain may be long.
tensor_shape expected_shape(const graph_analysis& g, std::uint16_t t, int most_nodes) {
  const encoded_tensor& of = g.tensor(t);
  if (of.where == encoded_tensor::place::memory) return of.shape;
  if (const tensor_shape* const computed = g.computed_shape(t)) return *computed;
  const auto from = g.uses.source_of(t);
  if (!from || most_nodes == 0) return with_dense_strides(of.shape, false);
  const encoded_node& n = g.node(*from);
  if (n.what == op::pointwise || n.what == op::convert) return expected_result(g, n, t, most_nodes);
  if (!is_view(n.what)) return with_dense_strides(of.shape, false);
  if (n.what == op::concatenation) return wanted_shape(g.graph, g.uses, t);
  const location in{.is_buffer = true, .number = 0, .shape = expected_shape(g, n.inputs[0], most_nodes - 1)};
  const auto view = view_of(n, in, of.shape);
  return view ? view->shape : with_dense_strides(of.shape, false);
}

}  // namespace

tensor_shape expected_shape(const graph_analysis& g, std::uint16_t t) { return expected_shape(g, t, 64); }

tensor_shape wanted_shape(const encoded_graph& g, const def_use& uses, std::uint16_t t) {
  tensor_shape out = with_dense_strides(g.tensors()[t].shape, false);
  const auto transposes = [&](std::size_t node) { return g.nodes()[node].what == op::transposition; };
  const auto readers = uses.readers_of(t);
  const auto reader = std::ranges::find_if(readers, transposes);
  if (reader == readers.end()) return out;
  const encoded_node& n = g.nodes()[*reader];
  const auto a = n.attributes.as<transposition_attributes>();
  const axis_values dense = dense_strides(g.tensors()[n.outputs[0]].shape);
  for (std::size_t i = 0; i < out.rank; ++i) out.strides[static_cast<std::size_t>(a.from[i])] = dense[i];
  return out;
}

bool is_per_channel(const tensor_shape& s, const tensor_shape& image) noexcept {
  if (s.rank != image.rank) return false;
  for (std::size_t i = 0; i < s.rank; ++i)
    if (s.extents[i] != (i == 1 ? image.extents[1] : 1)) return false;
  return true;
}

std::uint16_t position_of(const fusion_match& match, const def_use& uses) noexcept {
  std::size_t begin = 0;
  for (const fusion_match::tensor& t : match.inputs)
    if (const auto source = uses.source_of(t.number)) begin = std::max(begin, *source + 1);
  return *std::find_if(match.nodes.begin(), match.nodes.end(), [&](std::uint16_t n) { return n >= begin; });
}

}  // namespace troupe::dnn
