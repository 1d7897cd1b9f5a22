// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <initializer_list>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/sets/lowering.hpp>
#include <troupe/dnn/steps/def_use.hpp>
#include <troupe/epilogue/op.hpp>
#include <troupe/request/encoding/records.hpp>

namespace troupe::dnn::sets {
namespace {

using place = encoded_tensor::place;
using function = epilogue::op;

class graph_lowering {
 public:
  graph_lowering(const encoded_graph& g, std::int64_t most_held)
      : graph_(g), most_held_(most_held), uses_(g), tensors_(g.tensors().begin(), g.tensors().end()) {
    for (const encoded_node& n : g.nodes()) add(n);
  }
  bool changes() const noexcept { return nodes_.size() != graph_.nodes().size(); }
  std::vector<std::uint64_t> encoded() const {
    const encoded_graph::head h{static_cast<std::uint32_t>(nodes_.size()), static_cast<std::uint32_t>(tensors_.size()),
                                static_cast<std::uint32_t>(graph_.memory().size()), 0};
    const std::size_t bytes = encoded_graph::encoded_bytes(h.nodes, h.tensors, h.memory);
    std::vector<std::uint64_t> words((bytes + 7) / 8);
    auto* to = reinterpret_cast<std::byte*>(words.data());
    put_records(to, std::span(&h, 1));
    put_records(to, std::span<const encoded_node>(nodes_));
    put_records(to, std::span<const encoded_tensor>(tensors_));
    put_records(to, graph_.memory());
    return words;
  }

 private:
  // The most nodes that one node becomes, and the tensors that they need.
  static constexpr std::size_t most_added = 64;

  void add(const encoded_node& n) {
    if (tensors_.size() + most_added <= most_tensors) {
      if (n.what == op::normalization && is_of_batch(n)) return add_normalization(n);
      if (n.what == op::normalization_gradient && is_of_batch(n)) return add_gradient(n);
    }
    nodes_.push_back(n);
  }

  const tensor_shape& shape(std::uint16_t t) const noexcept { return tensors_[t].shape; }
  std::uint16_t add_tensor(const encoded_tensor& t) {
    tensors_.push_back(t);
    return static_cast<std::uint16_t>(tensors_.size() - 1);
  }
  std::uint16_t number(double x) {
    return add_tensor({.type = dtype::f64, .where = place::number, .memory = 0, .unused = 0, .number = x, .shape = {}});
  }
  void apply(function f, std::initializer_list<std::uint16_t> inputs, std::uint16_t to) {
    encoded_node n{.what = op::pointwise,
                   .input_count = static_cast<std::uint8_t>(inputs.size()),
                   .output_count = 1,
                   .outputs = {to},
                   .attributes = node_attributes::of(pointwise_attributes{.function = f, .unused = {}})};
    std::ranges::copy(inputs, n.inputs);
    nodes_.push_back(n);
  }
  // Adds a function of elements, whose result is like the tensor `like`.
  std::uint16_t apply_like(std::uint16_t like, function f, std::initializer_list<std::uint16_t> inputs) {
    const std::uint16_t to = add_tensor(tensors_[like]);
    apply(f, inputs, to);
    return to;
  }

  // Returns true if sets extend over the first axis and cannot be held, and scale and offset have an element for each.
  bool is_of_batch(const encoded_node& n) const {
    const auto a = n.attributes.as<normalization_attributes>();
    const normalization_inputs at(n.what, a);
    if ((a.over & 1) == 0 || a.groups > 1 || a.rms != 0 || uses_.readers_of(n.outputs[0]).empty()) return false;
    const tensor_shape& x = shape(n.inputs[at.x]);
    std::int64_t elements = 1;
    for (std::size_t i = 0; i < x.rank; ++i) {
      const bool is_inside = (a.over >> i & 1) != 0;
      if (is_inside) elements *= x.extents[i];
      if (at.scale == absent) continue;
      // Of a gradient, the sums over a set are those for scale and offset.
      const std::int64_t of_scale = shape(n.inputs[at.scale]).extents[i];
      if (is_inside ? of_scale != 1 : n.what == op::normalization_gradient && of_scale != x.extents[i]) return false;
    }
    if (n.what == op::normalization_gradient && at.scale == absent) return false;
    return elements > most_held_;
  }

  // y = (x - mean) * deviation * scale + offset
  void add_normalization(const encoded_node& n) {
    const normalization_places at(n.attributes.as<normalization_attributes>());
    const std::uint16_t y = n.outputs[at.y], x = n.inputs[at.x], mean = n.outputs[at.mean],
                        deviation = n.outputs[at.deviation];
    encoded_node statistics = n;
    statistics.outputs[at.y] = add_tensor(tensors_[y]);
    nodes_.push_back(statistics);
    const std::uint16_t centered = apply_like(y, function::subtract, {x, mean});
    if (at.scale == absent) return apply(function::multiply, {centered, deviation}, y);
    const std::uint16_t factor = apply_like(deviation, function::multiply, {deviation, n.inputs[at.scale]}),
                        product = apply_like(y, function::multiply, {centered, factor});
    apply(function::add, {product, n.inputs[at.offset]}, y);
  }

  // dx = (dy - (doffset + normal * dscale) / elements) * deviation * scale, where normal = (x - mean) * deviation
  void add_gradient(const encoded_node& n) {
    const normalization_gradient_places at(n.attributes.as<normalization_attributes>());
    const std::uint16_t dx = n.outputs[at.dx], dy = n.inputs[at.dy], x = n.inputs[at.x], mean = n.inputs[at.mean],
                        deviation = n.inputs[at.deviation], dscale = n.outputs[at.dscale];
    encoded_node sums = n;
    sums.inputs[at.dy] = copy_of(dy);
    sums.outputs[at.dx] = add_tensor(tensors_[dx]);
    nodes_.push_back(sums);
    const double share = static_cast<double>(elements_of(shape(mean))) / static_cast<double>(elements_of(shape(x)));
    const std::uint16_t rest = number(share);
    const std::uint16_t slope = apply_like(dscale, function::multiply, {dscale, deviation}),
                        mean_slope = apply_like(dscale, function::multiply, {slope, rest}),
                        mean_dy = apply_like(dscale, function::multiply, {n.outputs[at.doffset], rest}),
                        factor = apply_like(dscale, function::multiply, {deviation, n.inputs[at.scale]}),
                        centered = apply_like(dx, function::subtract, {x, mean}),
                        along = apply_like(dx, function::multiply, {centered, mean_slope}),
                        from_mean = apply_like(dx, function::subtract, {dy, mean_dy}),
                        change = apply_like(dx, function::subtract, {from_mean, along});
    apply(function::multiply, {change, factor}, dx);
  }

  // Adds copies of the elementwise nodes that compute a tensor, so that two kernels compute it from what is in memory,
  // instead of one storing it for the other. Returns the copy; the tensor itself if it is stored anyway.
  std::uint16_t copy_of(std::uint16_t t, std::size_t most = 4) {
    if (most == 0 || !is_elementwise(t) || is_stored(t)) return t;
    encoded_node n = graph_.nodes()[*uses_.source_of(t)];
    for (std::size_t k = 0; k < n.input_count; ++k) n.inputs[k] = copy_of(n.inputs[k], most - 1);
    if (n.what == op::convert && n.inputs[0] == graph_.nodes()[*uses_.source_of(t)].inputs[0]) return t;
    n.outputs[0] = add_tensor(tensors_[t]);
    nodes_.push_back(n);
    return n.outputs[0];
  }
  // Returns true if an elementwise kernel computes the tensor. A vendor's kernel may compute what reads its results.
  bool is_elementwise(std::uint16_t t) const {
    const auto from = uses_.source_of(t);
    if (!from) return false;
    const encoded_node& n = graph_.nodes()[*from];
    const auto is_of_elements = [&](std::uint16_t input) {
      const auto source = uses_.source_of(input);
      const op what = source ? graph_.nodes()[*source].what : op::none;
      return what == op::none || what == op::pointwise || (what == op::convert && n.what == op::pointwise);
    };
    return (n.what == op::pointwise || n.what == op::convert) &&
           std::all_of(n.inputs, n.inputs + n.input_count, is_of_elements);
  }
  // Returns true if a node reads the tensor that reads only what is stored.
  bool is_stored(std::uint16_t t) const {
    return !std::ranges::all_of(uses_.readers_of(t), [&](std::size_t reader) {
      const op what = graph_.nodes()[reader].what;
      return what == op::pointwise || what == op::convert || what == op::normalization_gradient;
    });
  }

  const encoded_graph& graph_;
  const std::int64_t most_held_;
  const def_use uses_;
  std::vector<encoded_tensor> tensors_;
  std::vector<encoded_node> nodes_;
};

}  // namespace

lowered_graph::lowered_graph(const encoded_graph& g, std::int64_t most_held) : graph_(g) {
  const graph_lowering all(g, most_held);
  if (!all.changes()) return;
  words_ = all.encoded();
  graph_ = encoded_graph(reinterpret_cast<const std::byte*>(words_.data()));
}

}  // namespace troupe::dnn::sets
