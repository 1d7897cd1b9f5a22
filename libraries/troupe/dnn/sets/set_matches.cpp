// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <set>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/sets/set_matches.hpp>
#include <troupe/dnn/sets/set_partition.hpp>
#include <troupe/dnn/steps/geometry.hpp>

namespace troupe::dnn::sets {
namespace {

using place = encoded_tensor::place;

// Returns a mask of axes without those of extent 1.
std::int64_t without_ones(std::int64_t mask, const tensor_shape& s) noexcept {
  for (std::size_t i = 0; i < s.rank; ++i)
    if (s.extents[i] == 1) mask &= ~(std::int64_t{1} << i);
  return mask;
}
// Returns the extents of a value for each set.
tensor_shape sets_of(tensor_shape elements, std::int64_t over) noexcept {
  for (std::size_t i = 0; i < elements.rank; ++i)
    if ((over >> i & 1) != 0) elements.extents[i] = 1;
  return elements;
}

// What a node reduces: the extents of its elements and of its sets.
struct reduced {
  tensor_shape elements;
  std::vector<tensor_shape> sets;  // for each kernel
  set_match like;                  // with `elements`, `channels`, `groups` and `over`

  static std::optional<reduced> of(const graph_analysis& g, std::size_t node) {
    const encoded_node& n = g.node(node);
    const auto shape = [&](std::size_t input) -> const tensor_shape& { return g.tensor(n.inputs[input]).shape; };
    reduced out;
    if (n.what == op::reduction) {
      out.set(shape(0), n.attributes.as<reduction_attributes>().over);
    } else if (n.what == op::softmax || n.what == op::softmax_gradient) {
      out.set(shape(0), std::int64_t{1} << n.attributes.as<softmax_attributes>().over);
    } else if (n.what == op::normalization || n.what == op::normalization_gradient) {
      const auto a = n.attributes.as<normalization_attributes>();
      const normalization_inputs at(n.what, a);
      out.set(shape(at.x), a.over, std::max<std::int64_t>(a.groups, 1));
      if (a.groups > 1) out.sets[0].extents[1] = a.groups;
      if (n.what == op::normalization_gradient && at.scale != absent) out.add_gradient_of(shape(at.scale));
    } else {
      return std::nullopt;
    }
    return out;
  }
  bool has_one_kernel_like(const reduced& other) const noexcept {
    return like.groups == 1 && other.like.groups == 1 && sets.size() == 1 && like.over == other.like.over &&
           same_extents(elements, other.elements);
  }

 private:
  void set(const tensor_shape& x, std::int64_t over, std::int64_t groups = 1) {
    elements = x, sets = {sets_of(x, over)};
    like.channels = groups > 1 ? x.extents[1] : 1, like.groups = groups;
    like.elements = grouped(x, like.channels, groups);
    // The division of axis 1 moves the axes from the channels on up by 1.
    if (groups > 1) over = (over & 1) | (over & ~std::int64_t{1}) << 1;
    like.over = {without_ones(over, like.elements)};
  }
  void add_gradient_of(const tensor_shape& scale) {
    const tensor_shape s = grouped(scale, like.channels, like.groups);
    std::int64_t over = 0;
    for (std::size_t i = 0; i < s.rank; ++i)
      if (s.extents[i] == 1) over |= std::int64_t{1} << i;
    over = without_ones(over, like.elements);
    if (over != like.over[0]) like.over.push_back(over), sets.push_back(scale);
  }
};

// Returns the kernels of a match. Sets have as many parts as fit into `workspace` bytes.
std::vector<set_kernel> kernels_of(const encoded_graph& g, const set_match& m, const fused_step& places,
                                   std::uint64_t workspace) {
  std::vector<set_kernel> out;
  for (std::size_t i = 0; i < m.over.size(); ++i) {
    set_kernel k = make_set_kernel(g, m, places, i);
    if (k.operands.empty()) continue;  // nothing reads its results
    partition(k, m.elements, m.over[i], workspace);
    k.partial = places.workspace;
    out.push_back(std::move(k));
  }
  return out;
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
      const auto what = g_.matched[i] ? std::nullopt : reduced::of(g_, i);
      if (!what) continue;
      reduced_ = *what;
      set_match m = reduced_.like;
      m.nodes.push_back(static_cast<std::uint16_t>(i));
      grow(m);
      prune(m);
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
      std::set<std::size_t> near = neighbors_of(m);
      for (auto next = near.begin(); next != near.end();) {
        const std::size_t i = *next++;
        if (!may_join(m, i)) continue;
        set_match larger = m;
        larger.nodes.push_back(static_cast<std::uint16_t>(i));
        std::sort(larger.nodes.begin(), larger.nodes.end());
        // A set whose elements several blocks read has too many for one.
        if (!complete(larger) || (m.is_divided && !larger.is_divided)) continue;
        m = std::move(larger), grows = true;
        near = neighbors_of(m), next = near.upper_bound(i);
      }
    }
  }
  // Returns the nodes that exchange a tensor with the match, in order. If memory is saved, those that compute an input
  // are left to their own kernels, but for nodes without inputs.
  std::set<std::size_t> neighbors_of(const set_match& m) const {
    std::set<std::size_t> out;
    for (const std::uint16_t n : m.nodes)
      if (g_.node(n).what != op::write)  // readers of written memory get its old content
        for (const std::uint16_t t : outputs(n)) {
          const auto readers = g_.uses.readers_of(t);
          out.insert(readers.begin(), readers.end());
        }
    for (const fusion_match::tensor& t : m.inputs)
      if (const auto producer = g_.uses.producer_of(t.number);
          producer && (!limits_.saves_memory || g_.node(*producer).input_count == 0))
        out.insert(*producer);
    return out;
  }

  // Returns true if the node is of a kind that may join.
  bool may_join(const set_match& m, std::size_t i) const {
    const encoded_node& n = g_.node(i);
    if (g_.matched[i] || std::ranges::binary_search(m.nodes, i)) return false;
    const auto what = reduced::of(g_, i);
    if (what ? !what->has_one_kernel_like(reduced_)
             : n.what != op::pointwise && n.what != op::convert && n.what != op::write && n.what != op::iota)
      return false;
    const tensor_shape& result = g_.tensor(n.outputs[0]).shape;
    if (!same_extents(result, reduced_.elements) &&
        std::ranges::none_of(reduced_.sets, [&](const tensor_shape& s) { return same_extents(result, s); }))
      return false;
    return n.what != op::write || !g_.read.is_read(g_.tensor(n.outputs[0]).memory);
  }

  // Removes nodes whose elements the kernels that read them can as well compute, if less needs to be stored then.
  void prune(set_match& m) const {
    for (std::size_t i = m.nodes.size(); i-- > 0;) {
      if (!is_left_to_readers(m, m.nodes[i])) continue;
      set_match smaller = m;
      smaller.nodes.erase(smaller.nodes.begin() + static_cast<std::ptrdiff_t>(i));
      if (complete(smaller) && stored_bytes(smaller) < stored_bytes(m)) m = std::move(smaller);
    }
  }
  // Returns true if only elementwise kernels and reductions of others read the elements that a node of a match
  // computes.
  bool is_left_to_readers(const set_match& m, std::size_t node) const {
    const encoded_node& n = g_.node(node);
    const auto is_inside = [&](std::size_t i) { return std::ranges::binary_search(m.nodes, i); };
    return n.what == op::pointwise && same_extents(g_.tensor(n.outputs[0]).shape, reduced_.elements) &&
           std::ranges::none_of(g_.uses.readers_of(n.outputs[0]), is_inside) &&
           is_read_in_any_order(g_.graph, g_.uses, n.outputs[0]);
  }
  static std::uint64_t stored_bytes(const set_match& m) noexcept {
    std::uint64_t out = 0;
    for (const fusion_match::tensor& t : m.outputs)
      out += static_cast<std::uint64_t>(elements_of(t.shape)) * bytes_of(t.type);
    return out;
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
        for (const std::size_t i : g_.uses.readers_of(t))
          if (!std::ranges::binary_search(m.nodes, i)) is_output = true, end = std::min(end, computed_at_[i]);
        if (is_output) m.outputs.push_back({.number = t, .type = type_of(t), .shape = stored_shape(t)});
      }
    }
    const auto at = std::ranges::lower_bound(m.nodes, begin);
    if (at == m.nodes.end() || *at >= end) return false;
    m.at = *at, m.workspace = 0, m.is_divided = false;
    return has_sound_kernels(m) && std::ranges::all_of(expected_kernels(m), [&](const set_kernel& k) {
             m.workspace = std::max(m.workspace, partial_bytes_of(k));
             m.is_divided = m.is_divided || k.partition.parts > 1;
             return k.operations.size() <= limits_.operations && k.operands.size() <= limits_.operands;
           });
  }
  static bool is_listed(const std::vector<fusion_match::tensor>& all, std::uint16_t t) {
    return std::ranges::find(all, t, &fusion_match::tensor::number) != all.end();
  }
  dtype type_of(std::uint16_t t) const noexcept {
    const dtype type = g_.tensor(t).type;
    return g_.tensor(t).where == place::memory || bytes_of(type) < bytes_of(compute_) ? type : compute_;
  }
  tensor_shape stored_shape(std::uint16_t t) const { return expected_shape(g_, t); }

  // Returns true if only conversions and writes read what the second kernel computes: the first one comes before it,
  // and has other sets.
  bool has_sound_kernels(const set_match& m) const {
    if (m.over.size() == 1) return true;
    const auto kernels = kernels_of_tensors(g_.graph, m);
    return std::ranges::all_of(m.nodes, [&](std::uint16_t n) {
      return g_.node(n).what == op::normalization_gradient || kernels.at(g_.node(n).outputs[0]) == 0 ||
             g_.node(n).what != op::pointwise;
    });
  }
  // Returns the kernels with their operands where they will be, as far as that is known.
  std::vector<set_kernel> expected_kernels(const set_match& m) const {
    fused_step places;
    for (const fusion_match::tensor& t : m.inputs)
      places.inputs.push_back({.is_buffer = true, .number = 0, .type = t.type, .shape = expected_shape(g_, t.number)});
    for (const fusion_match::tensor& t : m.outputs)
      places.outputs.push_back({.is_buffer = true, .number = 0, .type = t.type, .shape = t.shape});
    return kernels_of(g_.graph, m, places, limits_.saves_memory ? 0 : UINT64_MAX);
  }

  graph_analysis& g_;
  const dtype compute_;
  const set_limits limits_;
  std::vector<std::size_t> computed_at_;  // for each node: the node in whose place it is computed
  reduced reduced_;                       // what the match reduces
};

}  // namespace

std::vector<set_match> set_matches(graph_analysis& g, std::span<const fusion_match> others, dtype compute,
                                   const set_limits& limits) {
  return match_finder(g, others, compute, limits).find();
}

std::vector<set_kernel> set_kernels_of(const encoded_graph& g, const set_match& m, const fused_step& places) {
  return kernels_of(g, m, places, m.workspace);
}

}  // namespace troupe::dnn::sets
