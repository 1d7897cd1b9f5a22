// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/def_use.hpp>
#include <troupe/dnn/steps/fusion_match.hpp>
#include <troupe/dnn/steps/read_set.hpp>
#include <utility>

/// Helpers to find parts of a graph that one kernel computes: a vendor's kernel or one of ours.
namespace troupe::dnn {

/// A graph and facts about its nodes and memory that searches for fusion matches need.
struct graph_analysis {
  /// Analyzes a graph. `aligned_memory` has a flag for each memory of the graph: true if its address is a multiple of
  /// 16.
  graph_analysis(const encoded_graph& g, std::vector<bool> aligned_memory)
      : graph(g),
        uses(g),
        read(g),
        aligned(std::move(aligned_memory)),
        matched(g.nodes().size()),
        computed_(g.tensors().size()),
        needed_(g.tensors().size()) {}

  const encoded_graph& graph;
  const def_use uses;
  const read_set read;
  const std::vector<bool> aligned;
  std::vector<bool> matched;  ///< for each node: true if it is part of a match

  /// Records that the nodes of a match are part of it, and how it reads and stores tensors.
  void add(const fusion_match& m) {
    for (const std::uint16_t n : m.nodes) matched[n] = true;
    for (const fusion_match::tensor& t : m.outputs) computed_[t.number] = t.shape;
    for (const fusion_match::tensor& t : m.inputs)
      if (!t.as_stored && !needed_[t.number]) needed_[t.number] = t.shape;
  }
  /// Returns the shape in which a match computes a tensor; null if none does.
  const tensor_shape* computed_shape(std::uint16_t t) const noexcept { return pointer_to(computed_[t]); }
  /// Returns the shape in which the first match that is not indifferent to it reads a tensor; null if there is none.
  const tensor_shape* needed_shape(std::uint16_t t) const noexcept { return pointer_to(needed_[t]); }
  const encoded_node& node(std::size_t i) const noexcept { return graph.nodes()[i]; }
  const encoded_tensor& tensor(std::uint16_t t) const noexcept { return graph.tensors()[t]; }
  /// Returns a tensor as a match reads or writes it with this type and dense strides; see with_dense_strides().
  fusion_match::tensor dense_operand(std::uint16_t t, dtype type, bool channels_last = false) const noexcept;
  /// Returns true if a match may write to the memory of a tensor: the memory is aligned, and the graph does not read
  /// it.
  bool is_free(std::uint16_t t) const noexcept { return aligned[tensor(t).memory] && !read.is_read(tensor(t).memory); }

 private:
  static const tensor_shape* pointer_to(const std::optional<tensor_shape>& s) noexcept { return s ? &*s : nullptr; }
  std::vector<std::optional<tensor_shape>> computed_, needed_;
};

/// Returns true if all nodes that read the tensor read it equally fast whatever the order of its axes in memory is.
bool is_read_in_any_order(const encoded_graph& g, const def_use& uses, std::uint16_t t) noexcept;
/// Returns true if the elements are contiguous, with the axes in any order.
bool is_packed(const tensor_shape& s) noexcept;
/// Returns a packed shape with the extents of `of`, whose axes have the order in memory that those of `like` have.
tensor_shape packed_like(const tensor_shape& like, tensor_shape of) noexcept;
/// Returns the shape that a tensor is expected to have where it is stored. The planner may choose another one.
tensor_shape expected_shape(const graph_analysis& g, std::uint16_t t);
/// Returns the shape in which a tensor should be computed, so that its transposition, if a node transposes it, is
/// dense.
tensor_shape wanted_shape(const encoded_graph& g, const def_use& uses, std::uint16_t t);

/// Returns the tensor in which a match that computes `tensor` stores it as `type`. This is `tensor` itself, or the
/// output of its only reader if that converts `tensor` to `type` or writes it to memory of `type`, and
/// `can_write(output)`. Adds the readers that it follows to the match.
template <class CanWrite>
std::uint16_t follow_result(const graph_analysis& g, std::uint16_t tensor, dtype type, fusion_match& match,
                            const CanWrite& can_write) {
  for (const op what : {op::convert, op::write}) {
    const auto reader = g.uses.only_reader_of(tensor);
    if (!reader || g.matched[*reader] || g.node(*reader).what != what) continue;
    const std::uint16_t to = g.node(*reader).outputs[0];
    if (g.tensor(to).type != type || !can_write(to)) return tensor;
    match.nodes.push_back(static_cast<std::uint16_t>(*reader));
    tensor = to;
  }
  return tensor;
}

/// Returns the shape with dense strides. The fastest axis is the channel axis if `channels_last`, otherwise the last
/// axis.
tensor_shape with_dense_strides(tensor_shape s, bool channels_last) noexcept;

/// Returns the other input of a node that reads two tensors, one of which is `one`.
inline std::uint16_t other_input(const encoded_node& n, std::uint16_t one) noexcept {
  return n.inputs[0] == one ? n.inputs[1] : n.inputs[0];
}

/// Returns true if `s` has one element for each channel of `image`.
bool is_per_channel(const tensor_shape& s, const tensor_shape& image) noexcept;

/// Returns the node in whose place a match is computed: its first node after all nodes that write its inputs.
std::uint16_t position_of(const fusion_match& match, const def_use& uses) noexcept;

}  // namespace troupe::dnn
