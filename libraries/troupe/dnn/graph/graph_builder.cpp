// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>
#include <map>
#include <optional>
#include <string>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/graph_parts.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/graph/without_elements.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>
#include <troupe/epilogue/op.hpp>
#include <unordered_map>
#include <unordered_set>

namespace troupe::dnn {

/// Lists the nodes that compute the written values, each after its inputs.
class graph::builder {
 public:
  builder(parts& to, std::vector<operand>& memory) noexcept : to_(to), memory_(memory) {}

  void add(const written& given) {
    const written w = with_axes_of_memory(given);
    check(w);
    if (!to_.refused && detail::is_empty(w.what)) {
      add_memory(w.to.range(), w.to.shape(), w.to.type(), access_mode::write);
      add_operands_of(w.what);
    } else if (!to_.refused) {
      const std::uint16_t from = tensor_of(w.what);
      const std::uint16_t to = add_memory(w.to.range(), w.to.shape(), w.to.type(), access_mode::write);
      add_node({.what = op::write, .input_count = 1, .output_count = 1, .inputs = {from}, .outputs = {to}});
    }
    if (to_.refused) record_write(w);
  }

  /// Completes the graph. Precondition: all writes were added. A graph without nodes computes a number that nothing
  /// reads.
  void finish() {
    check_size();
    if (to_.refused) return;
    move_in_place_writes_to_end();
    move_scalars_to_start();
    if (to_.nodes.empty()) add_constant(0, {dtype::f32, {.rank = 1, .extents = {1}}});
  }

 private:
  // A single element may be written to memory of a single element with other axes: a loss to a buffer, for example.
  written with_axes_of_memory(const written& w) {
    const tensor_shape& to = w.to.shape();
    const auto of = w.what.extents();
    const bool is_single = std::ranges::all_of(of, [](std::int64_t n) { return n == 1; });
    if (!is_single || of.empty() || of.size() == to.rank || to.rank == 0 || elements_of(to) != 1) return w;
    reshaped_.push_back(reshape(w.what, std::span(to.extents.data(), to.rank)));
    return {reshaped_.back(), w.to};
  }
  // Moves writes to memory that is also read after all other nodes, together with the elementwise operations that only
  // these writes need. Most reads of that memory then precede the writes, and need no copy of it. Writes of single
  // elements come last, because each elementwise kernel has results of the same extents.
  void move_in_place_writes_to_end() {
    std::vector<encoded_node>& nodes = to_.nodes;
    std::vector<bool> is_needed(to_.tensors.size());  // true if a node that is not moved reads the tensor
    std::vector<encoded_node> stay, late, last;
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const encoded_node& n = nodes[i];
      const bool is_of_elements = n.what == op::pointwise || n.what == op::convert;
      const bool is_late = is_in_place(n) || (is_of_elements && !is_needed[n.outputs[0]]);
      for (std::size_t k = 0; !is_late && k < n.input_count; ++k) is_needed[n.inputs[k]] = true;
      (!is_late ? stay : n.what == op::write && is_scalar(n) ? last : late).push_back(n);
    }
    auto to = nodes.begin();
    for (const auto* const list : {&stay, &late, &last}) to = std::copy(list->rbegin(), list->rend(), to);
  }
  bool is_scalar(const encoded_node& n) const noexcept { return elements_of(to_.tensors[n.outputs[0]].shape) == 1; }
  // Moves elementwise operations on single elements of memory, such as those on the number of a step, before all other
  // nodes. They would end the elementwise kernels between which they stand.
  void move_scalars_to_start() {
    std::vector<bool> is_moved(to_.tensors.size());
    const auto is_known = [&](std::uint16_t t) {
      return is_moved[t] || to_.tensors[t].where != encoded_tensor::place::intermediate;
    };
    std::ranges::stable_partition(to_.nodes, [&](const encoded_node& n) {
      const bool is_first = (n.what == op::pointwise || n.what == op::convert) && is_scalar(n) &&
                            std::all_of(n.inputs, n.inputs + n.input_count, is_known);
      is_moved[n.outputs[0]] = is_first;
      return is_first;
    });
  }

  void check_size() {
    const auto require = [&](std::size_t count, std::size_t most, std::string_view what) {
      if (count > most) refuse(cat("has ", count, " ", what), cat("at most ", most));
    };
    require(to_.tensors.size() + more_tensors_, most_tensors, "tensors");
    require(memory_.size(), most_memory, "tensors in memory");
  }
  // Records the write of a refused graph, so that later readers of that memory fail.
  void record_write(const written& w) {
    const bool is_known = std::any_of(memory_.begin(), memory_.end(), [&](const operand& m) {
      return m.mode != access_mode::read && m.range.address == w.to.range().address;
    });
    if (!is_known) memory_.push_back({w.to.range(), w.to.shape(), w.to.type(), access_mode::write});
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
    const bool fits =
        w.what.rank() == 0 ? elements_of(s) == 1 : std::ranges::equal(extents, std::span(s.extents.data(), s.rank));
    if (!fits && s.rank != 0)
      return refuse(cat("writes a value that ", detail::node_maker::text_of(w.what), " to memory that is ",
                        detail::node_maker::text_of(std::span(s.extents.data(), s.rank))),
                    "equal extents");
  }
  void refuse(std::string what, std::string expected) {
    if (!to_.refused) to_.refused = {std::move(what), std::move(expected)};
  }

  // Returns the index of a new tensor; of one that is too much, any index, and `finish` refuses the graph.
  std::uint16_t add_tensor(const encoded_tensor& t) {
    if (to_.tensors.size() == most_tensors) return ++more_tensors_, 0;
    to_.tensors.push_back(t);
    return static_cast<std::uint16_t>(to_.tensors.size() - 1);
  }
  void add_node(const encoded_node& n) {
    if (more_tensors_ == 0) to_.nodes.push_back(n);
  }

  std::uint16_t add_memory(const memory_range& range, const tensor_shape& shape, dtype type, access_mode mode) {
    const auto [begin, end] = memory_at_.equal_range(range.address);
    for (auto at = begin; at != end; ++at) {
      operand& m = memory_[at->second];
      // Memory that is written twice becomes two operands, which the request refuses because they overlap.
      if ((mode != access_mode::read && m.mode != access_mode::read) || m.range.owner.get() != range.owner.get() ||
          m.shape != shape || m.type != type)
        continue;
      if (m.mode != mode) m.mode = access_mode::read_write;
      return memory_tensors_[at->second];
    }
    memory_at_.emplace(range.address, memory_.size());
    const auto number = static_cast<std::uint16_t>(memory_.size());
    memory_.push_back({range, shape, type, mode});
    // Engines do not receive tensors without elements, but they are operands of the request.
    memory_tensors_.push_back(
        elements_of(shape) == 0 ? no_tensor : add_tensor({type, encoded_tensor::place::memory, number, 0, 0, shape}));
    return memory_tensors_.back();
  }
  // Adds the operands on which a value depends, although the value need not be computed.
  void add_operands_of(const value& v) {
    std::vector<const value*> rest{&v};
    while (!rest.empty()) {
      const detail::producer& p = rest.back()->from();
      rest.pop_back();
      if (!visited_.insert(&p).second) continue;
      if (p.memory) add_memory(p.memory->range(), p.memory->shape(), p.memory->type(), access_mode::read);
      for (std::size_t i = p.inputs.size(); i-- > 0;) rest.push_back(&p.inputs[i]);
    }
  }

  std::uint16_t add_intermediate(const detail::producer::output& o) {
    encoded_tensor t{o.type, encoded_tensor::place::intermediate, 0, 0, 0, o.shape};
    t.shape.strides = dense_strides(t.shape);
    return add_tensor(t);
  }
  std::uint16_t add_number(double number) {
    const auto [at, is_new] = numbers_.try_emplace(std::bit_cast<std::uint64_t>(number), no_tensor);
    if (is_new) at->second = add_tensor({dtype::f64, encoded_tensor::place::number, 0, 0, number, {}});
    return at->second;
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

  std::uint16_t add_given(const detail::producer& p) {
    if (p.memory) return add_memory(p.memory->range(), p.memory->shape(), p.memory->type(), access_mode::read);
    return add_number(p.number);
  }

  // Returns true if the elements of the node's outputs are known without computing it.
  static bool is_known(const detail::producer& p) { return p.what != op::concatenation && detail::reads_nothing(p); }
  // Returns the tensor of a value that was added.
  std::optional<std::uint16_t> added(const value& v) const {
    const detail::producer& p = v.from();
    if (is_known(p)) {
      const auto at = known_.find({&p, v.output()});
      return at != known_.end() ? std::optional(at->second) : std::nullopt;
    }
    const auto at = made_.find(&p);
    return at != made_.end() ? std::optional(static_cast<std::uint16_t>(at->second + v.output())) : std::nullopt;
  }

  // A value that is being added, and the index of its next input.
  struct visit {
    value of;
    std::size_t next = 0;
  };
  // Adds a value, after its inputs, and returns its tensor. Does not recurse, because chains of nodes may be of any
  // length. Precondition: the value has elements.
  std::uint16_t tensor_of(const value& v) {
    std::vector<visit> path{{v}};
    while (!path.empty()) {
      const std::optional<value> before = added(path.back().of) ? std::nullopt : add_or_find_input(path.back());
      if (before)
        path.push_back({*before});
      else
        path.pop_back();
    }
    return *added(v);
  }
  // Adds the value if all of its inputs were added; otherwise returns an input that was not.
  std::optional<value> add_or_find_input(visit& at) {
    const detail::producer& p = at.of.from();
    if (is_known(p)) return add_known_output(at);
    while (at.next < p.inputs.size()) {
      const value& input = p.inputs[at.next++];
      if (detail::is_empty(input))
        add_operands_of(input);
      else if (!added(input))
        return input;
    }
    made_[&p] = p.what == op::none ? add_given(p) : add_computed(p);
    return std::nullopt;
  }
  std::optional<value> add_known_output(visit& at) {
    const detail::producer& p = at.of.from();
    if (at.next++ == 0)
      for (const value& input : p.inputs) add_operands_of(input);
    const detail::known_output is = detail::output_of_nothing(p, at.of.output());
    if (is.same && !added(*is.same)) return *is.same;
    known_[{&p, at.of.output()}] = is.same ? *added(*is.same) : add_constant(is.number, p.outputs[at.of.output()]);
    return std::nullopt;
  }
  // Adds a node whose inputs were added, unless one like it was, and returns the tensor of its first output.
  std::uint16_t add_computed(const detail::producer& p) {
    encoded_node n{
        .what = p.what, .output_count = static_cast<std::uint8_t>(p.outputs.size()), .attributes = p.attributes};
    for (const value& input : p.inputs)
      if (!detail::is_empty(input)) n.inputs[n.input_count++] = *added(input);
    const auto [like, is_new] = computed_.try_emplace(description_of(n, p), no_tensor);
    if (!is_new && more_tensors_ == 0) return like->second;
    for (std::size_t i = 0; i < p.outputs.size(); ++i) n.outputs[i] = add_intermediate(p.outputs[i]);
    add_node(n);
    return like->second = n.outputs[0];
  }
  // Returns bytes that are equal for nodes that compute the same.
  static std::string description_of(const encoded_node& n, const detail::producer& p) {
    std::string out(reinterpret_cast<const char*>(&n), sizeof n);
    for (const auto& [type, shape] : p.outputs) {
      out.append(reinterpret_cast<const char*>(&type), sizeof type);
      out.append(reinterpret_cast<const char*>(shape.extents.data()), shape.rank * sizeof shape.extents[0]);
    }
    return out;
  }

  bool is_in_place(const encoded_node& n) const noexcept {
    const encoded_tensor& to = to_.tensors[n.outputs[0]];
    return n.what == op::write && memory_[to.memory].mode == access_mode::read_write;
  }

  parts& to_;
  std::vector<operand>& memory_;
  std::unordered_map<std::uint64_t, std::uint16_t> numbers_;  // the tensor of each number, by its bits
  std::unordered_map<std::string, std::uint16_t> computed_;   // the first output of each node, by its description
  std::vector<value> reshaped_;  // results with the axes of their memory: kept, because made_ knows nodes by address
  std::unordered_map<const detail::producer*, std::uint16_t> made_;  // the tensor of each node's first output
  std::map<std::pair<const detail::producer*, std::uint8_t>, std::uint16_t> known_;  // outputs that are not computed
  std::unordered_set<const detail::producer*> visited_;  // nodes whose operands were added, but that are not computed
  std::unordered_multimap<std::uint64_t, std::size_t> memory_at_;  // the operands at each address
  std::vector<std::uint16_t> memory_tensors_;                      // the tensor of each operand
  std::size_t more_tensors_ = 0;                                   // tensors beyond `most_tensors`
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
