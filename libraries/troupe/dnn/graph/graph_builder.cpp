// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <set>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/graph_parts.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/graph/without_elements.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/epilogue/op.hpp>

namespace troupe::dnn {

/// Lists the nodes that compute the written values, each after its inputs.
class graph::builder {
 public:
  builder(parts& to, std::vector<operand>& memory) noexcept : to_(to), memory_(memory) {}

  void add(const written& w) {
    check(w);
    if (!to_.refused && detail::is_empty(w.what)) {
      add_memory(w.to.range(), w.to.shape(), w.to.type(), access_mode::write);
      add_operands_of(w.what);
    } else if (!to_.refused) {
      const std::uint16_t from = tensor_of(w.what);
      const std::uint16_t to = add_memory(w.to.range(), w.to.shape(), w.to.type(), access_mode::write);
      add_node({.what = op::write, .input_count = 1, .output_count = 1, .inputs = {from}, .outputs = {to}});
    }
    // The writes of a refused graph are recorded, too, so that later readers of that memory fail.
    const bool is_known = std::any_of(memory_.begin(), memory_.end(), [&](const operand& m) {
      return m.mode != access_mode::read && m.range.address == w.to.range().address;
    });
    if (to_.refused && !is_known && memory_.size() < most_memory)
      memory_.push_back({w.to.range(), w.to.shape(), w.to.type(), access_mode::write});
  }

  /// Completes the graph. Precondition: all writes were added. A graph without nodes computes a number that nothing
  /// reads.
  void finish() {
    move_in_place_writes_to_end();
    if (to_.nodes.empty()) add_constant(0, {dtype::f32, {.rank = 1, .extents = {1}}});
  }

 private:
  // Moves writes to memory that is also read after all other nodes, together with the elementwise operations that only
  // these writes need. Most reads of that memory then precede the writes, and need no copy of it.
  void move_in_place_writes_to_end() {
    std::vector<encoded_node>& nodes = to_.nodes;
    std::vector<bool> is_needed(to_.tensors.size());  // true if a node that is not moved reads the tensor
    std::vector<encoded_node> stay, last;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const encoded_node& n = nodes[i];
      const bool is_of_elements = n.what == op::pointwise || n.what == op::convert;
      const bool is_last = is_in_place(n) || (is_of_elements && !is_needed[n.outputs[0]]);
      for (std::size_t k = 0; !is_last && k < n.input_count; ++k) is_needed[n.inputs[k]] = true;
      (is_last ? last : stay).push_back(n);
    }
    if (last.empty()) return;
    std::copy(last.rbegin(), last.rend(), std::copy(stay.rbegin(), stay.rend(), nodes.begin()));
  }

  void check(const written& w) {
    if (to_.refused) return;
    if (const auto& refused = w.what.from().refused) {
      to_.refused = refused;
      return;
    }
    const tensor_shape& s = w.to.shape();
    if (!detail::is_element(w.to.type()))
      return refuse(cat("writes to memory of ", to_string(w.to.type())), std::string(detail::elements));
    const auto extents = w.what.extents();
    // A view that was refused when it was made has rank 0; the request reports that reason.
    const bool fits = w.what.rank() == 0
                          ? elements_of(s) == 1
                          : s.rank == extents.size() && std::equal(extents.begin(), extents.end(), s.extents.begin());
    if (!fits && s.rank != 0)
      return refuse(cat("writes a value that ", detail::node_maker::text_of(w.what), " to memory that is ",
                        detail::node_maker::text_of(std::span(s.extents.data(), s.rank))),
                    "equal extents");
  }
  void refuse(std::string what, std::string expected) {
    if (!to_.refused) to_.refused = {std::move(what), std::move(expected)};
  }

  std::uint16_t add_tensor(const encoded_tensor& t) {
    if (to_.tensors.size() == most_tensors) refuse("is too large", cat("at most ", most_tensors, " tensors"));
    if (to_.refused) return 0;
    to_.tensors.push_back(t);
    return static_cast<std::uint16_t>(to_.tensors.size() - 1);
  }
  void add_node(const encoded_node& n) {
    if (to_.nodes.size() == most_nodes) refuse("is too large", cat("at most ", most_nodes, " operations"));
    if (!to_.refused) to_.nodes.push_back(n);
  }

  std::uint16_t add_memory(const memory_range& range, const tensor_shape& shape, dtype type, access_mode mode) {
    for (std::size_t i = 0; i < memory_.size(); ++i) {
      operand& m = memory_[i];
      // Memory that is written twice becomes two operands, which the request refuses because they overlap.
      if ((mode != access_mode::read && m.mode != access_mode::read) || m.range.address != range.address ||
          m.range.owner.get() != range.owner.get() || m.shape != shape || m.type != type)
        continue;
      if (m.mode != mode) m.mode = access_mode::read_write;
      return memory_tensors_[i];
    }
    if (memory_.size() == most_memory) refuse("is too large", cat("at most ", most_memory, " tensors in memory"));
    if (to_.refused) return 0;
    memory_.push_back({range, shape, type, mode});
    const auto number = static_cast<std::uint16_t>(memory_.size() - 1);
    // Engines do not receive tensors without elements, but they are operands of the request.
    memory_tensors_.push_back(
        elements_of(shape) == 0 ? no_tensor : add_tensor({type, encoded_tensor::place::memory, number, 0, 0, shape}));
    return memory_tensors_.back();
  }
  // Adds the operands on which a value depends, although the value need not be computed.
  void add_operands_of(const value& v) {
    const detail::producer& p = v.from();
    if (to_.refused || !visited_.insert(&p).second) return;
    if (p.memory) add_memory(p.memory->range(), p.memory->shape(), p.memory->type(), access_mode::read);
    for (const value& input : p.inputs) add_operands_of(input);
  }

  std::uint16_t add_intermediate(const detail::producer::output& o) {
    encoded_tensor t{o.type, encoded_tensor::place::intermediate, 0, 0, 0, o.shape};
    t.shape.strides = dense_strides(t.shape);
    return add_tensor(t);
  }
  std::uint16_t add_number(double number) {
    return add_tensor({dtype::f64, encoded_tensor::place::number, 0, 0, number, {}});
  }

  std::uint16_t add_constant(double number, const detail::producer::output& all) {
    const std::uint16_t x = add_number(number), zero = add_number(0), sum = add_intermediate(all);
    add_node({.what = op::pointwise,
              .input_count = 2,
              .output_count = 1,
              .inputs = {x, zero},
              .outputs = {sum},
              .attributes = node_attributes::of(pointwise_attributes{.function = epilogue::op::add, .unused = {}})});
    return sum;
  }

  // Returns the tensor of an output whose elements are known without computing its node.
  std::uint16_t tensor_of_known_output(const value& v) {
    const detail::producer& p = v.from();
    for (const value& input : p.inputs) add_operands_of(input);
    const detail::known_output is = detail::output_of_nothing(p, v.output());
    if (is.same) return tensor_of(*is.same);
    const auto [known, is_new] = constants_.try_emplace({&p, v.output()}, no_tensor);
    if (is_new && !to_.refused) known->second = add_constant(is.number, p.outputs[v.output()]);
    return known->second;
  }

  std::uint16_t add_given(const detail::producer& p) {
    if (p.memory) return add_memory(p.memory->range(), p.memory->shape(), p.memory->type(), access_mode::read);
    return add_number(p.number);
  }

  // Adds a value after its inputs, and returns its tensor. The recursion ends early enough because the depth of values
  // is limited. Precondition: the value has elements.
  std::uint16_t tensor_of(const value& v) {
    const detail::producer& p = v.from();
    if (p.what != op::concatenation && detail::reads_nothing(p)) return tensor_of_known_output(v);
    const auto known = made_.find(&p);
    if (known != made_.end()) return static_cast<std::uint16_t>(known->second + v.output());
    if (p.what == op::none) return made_[&p] = add_given(p);
    encoded_node n{
        .what = p.what, .output_count = static_cast<std::uint8_t>(p.outputs.size()), .attributes = p.attributes};
    for (const value& input : p.inputs) {
      if (to_.refused) break;
      if (detail::is_empty(input))
        add_operands_of(input);
      else
        n.inputs[n.input_count++] = tensor_of(input);
    }
    for (std::size_t i = 0; i < p.outputs.size(); ++i) n.outputs[i] = add_intermediate(p.outputs[i]);
    add_node(n);
    made_[&p] = n.outputs[0];
    return static_cast<std::uint16_t>(n.outputs[0] + v.output());
  }

  bool is_in_place(const encoded_node& n) const noexcept {
    const encoded_tensor& to = to_.tensors[n.outputs[0]];
    return n.what == op::write && memory_[to.memory].mode == access_mode::read_write;
  }

  parts& to_;
  std::vector<operand>& memory_;
  std::map<const detail::producer*, std::uint16_t> made_;  // the tensor of each node's first output
  std::map<std::pair<const detail::producer*, std::uint8_t>, std::uint16_t> constants_;
  std::set<const detail::producer*> visited_;  // nodes whose operands were added although they are not computed
  std::vector<std::uint16_t> memory_tensors_;  // the tensor of each operand
};

graph::graph(std::span<const written> all) {
  const auto made = std::make_shared<parts>();
  builder b(*made, *memory_);
  for (const written& w : all) b.add(w);
  if (!made->refused) b.finish();
  if (all.empty()) made->refused = {"is empty", "at least one tensor to write"};
  parts_ = {made};
}

}  // namespace troupe::dnn
