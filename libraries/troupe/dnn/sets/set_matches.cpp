// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/sets/set_matches.hpp>
#include <troupe/dnn/sets/set_partition.hpp>

namespace troupe::dnn::sets {
namespace {

using place = encoded_tensor::place;

// Returns the axes over which a node reduces; nullopt if set kernels do not compute it.
std::optional<std::int64_t> axes_of(const encoded_node& n) {
  if (n.what == op::reduction) return n.attributes.as<reduction_attributes>().over;
  if (n.what == op::softmax || n.what == op::softmax_gradient)
    return std::int64_t{1} << n.attributes.as<softmax_attributes>().over;
  return std::nullopt;
}

class match_finder {
 public:
  match_finder(graph_analysis& g, std::span<const fusion_match> others, dtype compute, const set_limits& limits)
      : g_(g), compute_(compute), limits_(limits), computed_at_(g.graph.nodes().size()) {
    for (std::size_t i = 0; i < computed_at_.size(); ++i) computed_at_[i] = i;
    for (const fusion_match& m : others) place_nodes(m);
  }

  std::vector<set_match> find() {
    std::vector<set_match> out;
    for (std::size_t i = 0; i < g_.graph.nodes().size(); ++i) {
      const auto over = axes_of(g_.node(i));
      if (g_.matched[i] || !over) continue;
      set_match m;
      m.elements = g_.tensor(g_.node(i).inputs[0]).shape, m.over = *over;
      sets_ = m.elements;
      for (std::size_t k = 0; k < sets_.rank; ++k)
        if ((m.over >> k & 1) != 0) sets_.extents[k] = 1;
      m.nodes.push_back(static_cast<std::uint16_t>(i));
      grow(m);
      g_.add(m), place_nodes(m);
      out.push_back(std::move(m));
    }
    return out;
  }

 private:
  void place_nodes(const fusion_match& m) {
    for (const std::uint16_t n : m.nodes) computed_at_[n] = m.at;
  }
  std::span<const std::uint16_t> inputs(std::size_t node) const noexcept {
    return std::span(g_.node(node).inputs).first(g_.node(node).input_count);
  }
  std::span<const std::uint16_t> outputs(std::size_t node) const noexcept {
    return std::span(g_.node(node).outputs).first(g_.node(node).output_count);
  }

  // Adds nodes to the match as long as one kernel can compute them.
  void grow(set_match& m) {
    complete(m);
    for (bool grows = true; grows;) {
      grows = false;
      for (std::size_t i = 0; i < g_.graph.nodes().size(); ++i) {
        if (!may_join(m, i)) continue;
        set_match larger = m;
        larger.nodes.push_back(static_cast<std::uint16_t>(i));
        std::sort(larger.nodes.begin(), larger.nodes.end());
        if (!complete(larger)) continue;
        m = std::move(larger), grows = true;
      }
    }
  }

  // Returns true if the node is of a kind that may join, and exchanges a tensor with the match.
  bool may_join(const set_match& m, std::size_t i) const {
    const encoded_node& n = g_.node(i);
    if (g_.matched[i] || std::ranges::binary_search(m.nodes, i)) return false;
    const bool elementwise = n.what == op::pointwise || n.what == op::convert || n.what == op::write;
    const auto over = axes_of(n);
    if (!elementwise && over != std::optional(m.over)) return false;
    if (over && !same_extents(g_.tensor(n.inputs[0]).shape, m.elements)) return false;
    const tensor_shape& result = g_.tensor(n.outputs[0]).shape;
    if (!same_extents(result, m.elements) && !same_extents(result, sets_)) return false;
    if (n.what == op::write && g_.read.is_read(g_.tensor(n.outputs[0]).memory)) return false;
    const auto is_here = [&](std::uint16_t t) {
      const auto source = g_.uses.source_of(t);
      return source && std::ranges::binary_search(m.nodes, *source);
    };
    return std::ranges::any_of(inputs(i), is_here) ||
           (!limits_.saves_memory && std::ranges::any_of(outputs(i), [&](std::uint16_t t) {
             return std::ranges::find(m.inputs, t, &fusion_match::tensor::number) != m.inputs.end();
           }));
  }

  // Finds inputs, outputs and the place of a match. Returns false if one kernel cannot compute its nodes.
  bool complete(set_match& m) const {
    m.inputs.clear(), m.outputs.clear();
    std::size_t begin = 0, end = SIZE_MAX;
    for (const std::uint16_t n : m.nodes) {
      for (const std::uint16_t t : inputs(n)) {
        const auto source = g_.uses.source_of(t);
        if (source && std::ranges::binary_search(m.nodes, *source)) continue;
        if (g_.tensor(t).where == place::number || is_listed(m.inputs, t)) continue;
        m.inputs.push_back({.number = t, .type = g_.tensor(t).type, .shape = g_.tensor(t).shape, .as_stored = true});
        if (source) begin = std::max(begin, computed_at_[*source] + 1);
      }
      for (const std::uint16_t t : outputs(n)) {
        bool is_output = g_.tensor(t).where == place::memory;
        for (std::size_t i = 0; i < g_.graph.nodes().size(); ++i) {
          if (std::ranges::binary_search(m.nodes, i) || std::ranges::find(inputs(i), t) == inputs(i).end()) continue;
          is_output = true, end = std::min(end, computed_at_[i]);
        }
        if (is_output) m.outputs.push_back({.number = t, .type = type_of(t), .shape = stored_shape(t)});
      }
    }
    const auto at = std::ranges::lower_bound(m.nodes, begin);
    if (at == m.nodes.end() || *at >= end) return false;
    m.at = *at, m.workspace = 0;
    const set_kernel k = expected_kernel(m);
    if (k.operations.size() > limits_.operations || k.operands.size() > limits_.operands) return false;
    m.workspace = partial_bytes_of(k);
    return true;
  }
  static bool is_listed(const std::vector<fusion_match::tensor>& all, std::uint16_t t) {
    return std::ranges::find(all, t, &fusion_match::tensor::number) != all.end();
  }
  dtype type_of(std::uint16_t t) const noexcept {
    const dtype type = g_.tensor(t).type;
    return g_.tensor(t).where == place::memory || bytes_of(type) < bytes_of(compute_) ? type : compute_;
  }
  tensor_shape stored_shape(std::uint16_t t) const noexcept {
    return g_.tensor(t).where == place::memory ? g_.tensor(t).shape : with_dense_strides(g_.tensor(t).shape, false);
  }

  // Returns the kernel with its operands where they will be, as far as that is known.
  set_kernel expected_kernel(const set_match& m) const {
    fused_step places;
    for (const fusion_match::tensor& t : m.inputs)
      places.inputs.push_back({.is_buffer = true, .number = 0, .type = t.type, .shape = expected_shape(t.number)});
    for (const fusion_match::tensor& t : m.outputs)
      places.outputs.push_back({.is_buffer = true, .number = 0, .type = t.type, .shape = t.shape});
    set_kernel k = make_set_kernel(g_.graph, m, places, m.over);
    partition(k, m.elements, m.over, limits_.saves_memory ? 1 : INT64_MAX);
    return k;
  }
  tensor_shape expected_shape(std::uint16_t t) const {
    const encoded_tensor& of = g_.tensor(t);
    if (of.where == place::memory) return of.shape;
    tensor_shape out = with_dense_strides(of.shape, false);
    const auto from = g_.uses.source_of(t);
    if (!from || g_.node(*from).what != op::transposition) return out;
    const tensor_shape before = expected_shape(g_.node(*from).inputs[0]);
    const auto a = g_.node(*from).attributes.as<transposition_attributes>();
    for (std::size_t i = 0; i < out.rank; ++i) out.strides[i] = before.strides[static_cast<std::size_t>(a.from[i])];
    return out;
  }

  graph_analysis& g_;
  const dtype compute_;
  const set_limits limits_;
  std::vector<std::size_t> computed_at_;  // for each node: the node in whose place it is computed
  tensor_shape sets_;                     // extents of a value for each set
};

}  // namespace

std::vector<set_match> set_matches(graph_analysis& g, std::span<const fusion_match> others, dtype compute,
                                   const set_limits& limits) {
  return match_finder(g, others, compute, limits).find();
}

set_kernel set_kernel_of(const encoded_graph& g, const set_match& m, const fused_step& places) {
  set_kernel k = make_set_kernel(g, m, places, m.over);
  partition(k, m.elements, m.over, 1);
  const auto bytes_of_part =
      static_cast<std::int64_t>(count_reductions(k) * sizeof(double)) * std::max<std::int64_t>(k.count_sets(), 1);
  partition(k, m.elements, m.over, static_cast<std::int64_t>(m.workspace) / bytes_of_part);
  k.partial = places.workspace;
  return k;
}

}  // namespace troupe::dnn::sets
