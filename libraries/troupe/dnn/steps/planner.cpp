// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <troupe/base/numbers/round_up.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/dnn/steps/buffer_offsets.hpp>
#include <troupe/dnn/steps/geometry.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>
#include <troupe/dnn/steps/planner.hpp>
#include <troupe/dnn/steps/precision.hpp>
#include <troupe/dnn/steps/read_set.hpp>
#include <troupe/dnn/steps/step_workspace.hpp>

namespace troupe::dnn {
namespace {

class planner {
 public:
  planner(const encoded_graph& g, const elementwise_limits& limits, std::span<const fusion_match> matches)
      : graph_(g),
        uses_(g),
        limits_(limits),
        matches_(matches),
        tensors_(g.tensors().size()),
        match_of_(g.nodes().size(), no_match),
        reads_(g) {
    out_.compute_type = needs_double(g) ? dtype::f64 : dtype::f32;
    for (std::size_t i = 0; i < matches.size(); ++i) {
      for (const std::uint16_t n : matches[i].nodes) match_of_[n] = i;
      for (const fusion_match::tensor& in : matches[i].inputs) reads_.read_at(matches[i].at, in.number);
    }
  }
  step_list plan();

 private:
  using operation = elementwise_kernel::operation;
  struct tensor_state {
    std::optional<location> stored;                 ///< the memory or buffer that holds the tensor
    std::vector<location> copies = {};              ///< copies with another layout or type
    const tensor_shape* needed_shape = nullptr;     ///< the layout that a match needs, if the tensor is spilled
    std::optional<std::uint16_t> operation_number;  ///< the operation of the open kernel that computes the tensor
    std::size_t last_reader = 0;                    ///< index of the last node that reads the tensor
    std::size_t readers = 0;
    std::uint16_t only_write = no_tensor;  ///< the tensor in memory to which the only reader writes this one
  };

  static constexpr std::size_t no_match = SIZE_MAX;
  const encoded_tensor& tensor(std::uint16_t t) const noexcept { return graph_.tensors()[t]; }
  bool is_matched(std::size_t node) const noexcept { return match_of_[node] != no_match; }
  location memory_location(std::uint16_t t) const noexcept {
    const encoded_tensor& of = tensor(t);
    return {.is_buffer = false, .number = of.memory, .type = of.type, .offset = 0, .shape = of.shape};
  }
  void analyze_uses();
  void add(const encoded_node& n);
  void extend_lifetime(const location& l);

  // Elementwise kernels.
  std::uint16_t add_operation(const operation& o);
  std::uint16_t add_operand(const location& l);
  std::uint16_t operation_for(std::uint16_t t);
  bool is_full() const noexcept;
  // Returns true if a result of the open kernel must be stored, because later nodes read it.
  bool is_spilled(const tensor_state& s) const noexcept { return !s.stored && s.readers > 0 && s.last_reader >= node_; }
  void append(const encoded_node& n);
  void spill(std::uint16_t t);
  void close_kernel();
  void push_kernel(elementwise_kernel kernel);

  // Memory that a graph both reads and writes.
  bool is_in_place(const encoded_node& n) const noexcept;
  void write_in_place(const encoded_node& n);
  void write_deferred();
  void copy_to_buffer(std::uint16_t t);

  // Steps.
  void copy(const location& from, const location& to);
  location new_buffer(const tensor_shape& s, dtype type);
  location new_buffer(const tensor_shape& s) { return new_buffer(with_dense_strides(s, false), out_.compute_type); }
  // Returns the type in which a tensor is stored: narrower than computed values if it was rounded. In a graph that is
  // computed in f64, only a conversion rounds to f32.
  dtype stored_type(std::uint16_t t) const noexcept {
    const dtype type = tensor(t).type;
    const auto by = uses_.producer_of(t);
    const bool is_rounded = type != dtype::f32 || (by && graph_.nodes()[*by].what == op::convert);
    return is_rounded && bytes_of(type) < bytes_of(out_.compute_type) ? type : out_.compute_type;
  }
  location new_workspace(std::uint64_t bytes) {
    return new_buffer({.rank = 1, .extents = {static_cast<std::int64_t>(bytes)}, .strides = {1}}, dtype::u8);
  }
  location result_location(std::uint16_t t);
  location spill_location(std::uint16_t t);
  location location_of(std::uint16_t t);
  location copy_with_layout(std::uint16_t t, const tensor_shape& s, dtype type);
  location dense_values(std::uint16_t t);
  location dense_as_stored(std::uint16_t t);
  void add_view(const encoded_node& n);
  void add_concatenation(const encoded_node& n);
  void add_operator_step(const encoded_node& n);
  void add_fused_step(std::size_t which);
  location input_of_match(const fusion_match::tensor& as);

  const encoded_graph& graph_;
  const def_use uses_;
  const elementwise_limits limits_;
  const std::span<const fusion_match> matches_;
  step_list out_;
  std::vector<tensor_state> tensors_;
  std::vector<std::size_t> match_of_;  // the match of each node
  std::vector<buffer_use> buffers_;
  std::optional<elementwise_kernel> open_kernel_;
  std::vector<std::uint16_t> kernel_tensors_;  // tensors that the open kernel reads or computes
  // The node that is being planned.
  std::size_t node_ = 0;
  read_set reads_;
  std::vector<encoded_node> deferred_writes_;  // writes to memory that later nodes still read
};

step_list planner::plan() {
  analyze_uses();
  for (const encoded_node& n : graph_.nodes()) {
    if (!is_matched(node_))
      add(n);
    else if (const std::size_t which = match_of_[node_]; matches_[which].at == node_)
      add_fused_step(which);
    ++node_;
  }
  close_kernel();
  write_deferred();
  out_.buffers = buffer_offsets(buffers_, out_.bytes);
  return std::move(out_);
}

// Finds the readers of each tensor, and the tensors that are only written to memory.
void planner::analyze_uses() {
  const auto nodes = graph_.nodes();
  for (const fusion_match& match : matches_) {
    for (const fusion_match::tensor& in : match.inputs) {
      tensor_state& t = tensors_[in.number];
      t.last_reader = std::max<std::size_t>(t.last_reader, match.at), ++t.readers;
      if (t.needed_shape == nullptr && !in.as_stored) t.needed_shape = &in.shape;
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t k = 0; k < nodes[i].input_count && !is_matched(i); ++k) {
      tensor_state& t = tensors_[nodes[i].inputs[k]];
      t.last_reader = std::max(t.last_reader, i), ++t.readers;
      const encoded_tensor& to = tensor(nodes[i].outputs[0]);
      const bool is_copy = nodes[i].what == op::write && to.type == out_.compute_type && is_dense(to.shape);
      t.only_write = is_copy && t.readers == 1 ? nodes[i].outputs[0] : no_tensor;
    }
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (const auto t = static_cast<std::uint16_t>(i); tensor(t).where == encoded_tensor::place::memory)
      tensors_[i].stored = memory_location(t);
}

void planner::add(const encoded_node& n) {
  const encoded_tensor& out = tensor(n.outputs[0]);
  if (is_elementwise(n.what)) {
    if (is_in_place(n)) return write_in_place(n);
    // A step may already have stored its result in the memory to which this node writes it.
    const tensor_state& from = tensors_[n.input_count == 0 ? n.outputs[0] : n.inputs[0]];
    if (n.what == op::write && from.only_write == n.outputs[0] && from.stored && !from.stored->is_buffer &&
        tensor(n.inputs[0]).where == encoded_tensor::place::intermediate && from.stored->number == out.memory)
      return;
    // What is gathered must be stored.
    const bool is_open = n.what == op::gather && tensors_[n.inputs[0]].operation_number && !from.stored;
    if (open_kernel_ && (is_open || !same_extents(open_kernel_->extents, out.shape) || is_full())) close_kernel();
    // A conversion may have been computed when its input was spilled.
    if (n.what != op::convert || !tensors_[n.outputs[0]].stored) append(n);
    return;
  }
  // The open elementwise kernel stays open if the step reads none of its results.
  for (std::size_t k = 0; k < n.input_count; ++k)
    if (tensors_[n.inputs[k]].operation_number && !tensors_[n.inputs[k]].stored) close_kernel();
  if (n.what == op::concatenation) return add_concatenation(n);
  if (is_view(n.what)) return add_view(n);
  add_operator_step(n);
}

// Extends the lifetime of a buffer to the step that is added next.
void planner::extend_lifetime(const location& l) {
  if (!l.is_buffer) return;
  buffer_use& b = buffers_[l.number];
  b.first = std::min(b.first, out_.steps.size()), b.last = out_.steps.size();
}

// -- elementwise kernels

std::uint16_t planner::add_operation(const operation& o) {
  open_kernel_->operations.push_back(o);
  return static_cast<std::uint16_t>(open_kernel_->operations.size() - 1);
}
std::uint16_t planner::add_operand(const location& l) {
  open_kernel_->operands.push_back(l);
  return static_cast<std::uint16_t>(open_kernel_->operands.size() - 1);
}

// Returns true if one more node, together with the results that would be spilled at the end, could exceed the limits.
bool planner::is_full() const noexcept {
  constexpr std::size_t most_per_node = 4, of_a_spill = 2;  // a spilled result may be rounded before it is written
  const auto spills = static_cast<std::size_t>(
      std::ranges::count_if(kernel_tensors_, [&](std::uint16_t t) { return is_spilled(tensors_[t]); }));
  return open_kernel_->operations.size() + of_a_spill * (spills + 1) + most_per_node > limits_.operations ||
         open_kernel_->operands.size() + spills + most_per_node > limits_.operands ||
         open_kernel_->sequences.size() >= limits_.sequences;
}

std::uint16_t planner::operation_for(std::uint16_t t) {
  tensor_state& s = tensors_[t];
  if (s.operation_number) return *s.operation_number;
  if (tensor(t).where == encoded_tensor::place::number)
    return add_operation({.what = operation::kind::number, .value = tensor(t).number});
  const std::uint16_t operation_number =
      add_operation({.what = operation::kind::read, .operand = add_operand(*s.stored)});
  s.operation_number = operation_number, kernel_tensors_.push_back(t);
  return operation_number;
}

void planner::append(const encoded_node& n) {
  const encoded_tensor& out = tensor(n.outputs[0]);
  if (!open_kernel_) open_kernel_.emplace().extents = out.shape;
  operation o{.what = operation::kind::apply};
  if (n.what == op::random || n.what == op::iota || n.what == op::gather) {
    std::vector<location> inputs;
    for (std::size_t k = 0; k < n.input_count; ++k) inputs.push_back(location_of(n.inputs[k]));
    tensors_[n.outputs[0]].operation_number = add_values_by_position(*open_kernel_, n, inputs);
    return kernel_tensors_.push_back(n.outputs[0]);
  }
  for (std::size_t k = 0; k < n.input_count; ++k) o.from[k] = operation_for(n.inputs[k]);
  for (std::size_t k = n.input_count; k < 3; ++k) o.from[k] = o.from[0];
  tensor_state& result = tensors_[n.outputs[0]];
  if (n.what == op::write) {
    o.what = operation::kind::write, o.operand = add_operand(memory_location(n.outputs[0]));
    add_operation(o);
    return;
  }
  if (n.what == op::convert)
    o.what = operation::kind::round, o.type = out.type;
  else
    o.function = n.attributes.as<pointwise_attributes>().function;
  result.operation_number = add_operation(o);
  kernel_tensors_.push_back(n.outputs[0]);
}

// Stores a result of the open kernel. If later nodes only convert it, it is converted before.
void planner::spill(std::uint16_t t) {
  const std::uint16_t from = *tensors_[t].operation_number;
  const auto readers = uses_.readers_of(t);
  const encoded_node& next = graph_.nodes()[readers.front()];
  const bool is_converted = readers.size() == 1 && readers.front() >= node_ && next.what == op::convert &&
                            !is_matched(readers.front()) && tensors_[t].last_reader == readers.front();
  const std::uint16_t stored = is_converted ? next.outputs[0] : t;
  const std::uint16_t value =
      is_converted ? add_operation({.what = operation::kind::round, .type = tensor(stored).type, .from = {from}})
                   : from;
  tensors_[stored].stored = spill_location(stored);
  add_operation({.what = operation::kind::write, .operand = add_operand(*tensors_[stored].stored), .from = {value}});
}

// Ends the open elementwise kernel, and spills its results that later nodes read.
void planner::close_kernel() {
  if (!open_kernel_) return;
  for (const std::uint16_t t : kernel_tensors_) {
    tensor_state& s = tensors_[t];
    if (is_spilled(s)) spill(t);
    s.operation_number.reset();
  }
  kernel_tensors_.clear();
  elementwise_kernel kernel = *std::exchange(open_kernel_, std::nullopt);
  const auto writes = [](const operation& o) { return o.what == operation::kind::write; };
  if (std::any_of(kernel.operations.begin(), kernel.operations.end(), writes)) push_kernel(std::move(kernel));
}

void planner::push_kernel(elementwise_kernel kernel) {
  set_iteration_space(kernel);
  for (const location& l : kernel.operands) extend_lifetime(l);
  out_.steps.emplace_back(std::move(kernel));
}

// -- memory that is read and written

bool planner::is_in_place(const encoded_node& n) const noexcept {
  return n.what == op::write && reads_.is_read(tensor(n.outputs[0]).memory);
}

// Writes to memory that the graph also reads. An elementwise kernel may overwrite memory that it reads only if each
// element is read by the thread that writes it.
void planner::write_in_place(const encoded_node& n) {
  const std::uint16_t from = n.inputs[0];
  const location to = memory_location(n.outputs[0]);
  const auto is_there = [&](const location& l) { return !l.is_buffer && l.number == to.number; };
  const auto is_elsewhere = [&](const location& l) {
    return is_there(l) && (l.offset != 0 || l.type != to.type || l.shape != to.shape);
  };
  const auto& stored = tensors_[from].stored;
  if (stored && is_there(*stored) && !is_elsewhere(*stored)) return;
  if (reads_.is_read_after(node_, to.number)) {
    tensors_[from].last_reader = SIZE_MAX;
    reads_.read_at_end(from);
    deferred_writes_.push_back(n);
    return;
  }
  const auto reads_elsewhere = [&] {
    return std::any_of(open_kernel_->operands.begin(), open_kernel_->operands.end(), is_elsewhere);
  };
  if (open_kernel_ && (!same_extents(open_kernel_->extents, to.shape) || is_full() || reads_elsewhere()))
    close_kernel();
  if (stored && is_elsewhere(*stored)) copy_to_buffer(from);
  append(n);
}

// Adds the writes that had to wait until memory was read. First copies those sources in memory that one of the writes
// overwrites.
void planner::write_deferred() {
  const auto is_overwritten = [&](const location& l) {
    return !l.is_buffer && std::any_of(deferred_writes_.begin(), deferred_writes_.end(),
                                       [&](const encoded_node& n) { return tensor(n.outputs[0]).memory == l.number; });
  };
  for (const encoded_node& n : deferred_writes_)
    if (const auto& stored = tensors_[n.inputs[0]].stored; stored && is_overwritten(*stored))
      copy_to_buffer(n.inputs[0]);
  for (const encoded_node& n : deferred_writes_) {
    if (open_kernel_ && (!same_extents(open_kernel_->extents, tensor(n.outputs[0]).shape) || is_full())) close_kernel();
    append(n);
  }
  close_kernel();
}

// Copies a tensor to a buffer, so that writes to memory do not change it.
void planner::copy_to_buffer(std::uint16_t t) {
  const location from = *tensors_[t].stored;
  tensors_[t].stored = new_buffer(from.shape);
  copy(from, *tensors_[t].stored);
}

// -- steps

void planner::copy(const location& from, const location& to) {
  elementwise_kernel kernel{
      .extents = to.shape, .operations = {}, .operands = {from, to}, .over = {}, .operand_in_space = {}};
  kernel.operations.push_back({.what = operation::kind::read, .operand = 0});
  kernel.operations.push_back({.what = operation::kind::write, .operand = 1});
  push_kernel(std::move(kernel));
}

location planner::new_buffer(const tensor_shape& s, dtype type) {
  const location l{
      .is_buffer = true, .number = static_cast<std::uint32_t>(buffers_.size()), .type = type, .offset = 0, .shape = s};
  buffers_.push_back({round_up(static_cast<std::uint64_t>(spanned_elements_of(s)) * bytes_of(type), 256), SIZE_MAX, 0});
  return l;
}

// Chooses the memory for a result of a step: the memory of the graph to which the result's only reader writes it, or a
// new buffer.
location planner::result_location(std::uint16_t t) {
  const std::uint16_t to = tensors_[t].only_write;
  if (to == no_tensor || reads_.is_read(tensor(to).memory) || !same_extents(tensor(to).shape, tensor(t).shape))
    return new_buffer(tensor(t).shape);
  location l = memory_location(to);
  l.shape.strides = dense_strides(l.shape);
  return l;
}

// Chooses the memory for a result that the open kernel must spill: the memory of the graph to which the result's only
// reader writes it, or a new buffer. If the result was rounded to a narrower type, the buffer has this type.
location planner::spill_location(std::uint16_t t) {
  const tensor_state& s = tensors_[t];
  if (s.only_write != no_tensor) return result_location(t);
  if (s.needed_shape != nullptr) return new_buffer(*s.needed_shape, stored_type(t));
  // The order of axes is that of an operand, so that both are read and written in the order of memory.
  if (is_read_in_any_order(graph_, uses_, t))
    for (const location& l : open_kernel_->operands)
      if (l.exists() && same_extents(l.shape, tensor(t).shape) && is_packed(l.shape))
        return new_buffer(l.shape, stored_type(t));
  return new_buffer(with_dense_strides(tensor(t).shape, false), stored_type(t));
}

// Returns the location of a tensor. A number is first written to a new buffer by a kernel.
location planner::location_of(std::uint16_t t) {
  tensor_state& s = tensors_[t];
  if (!s.stored && tensor(t).where == encoded_tensor::place::number) {
    s.stored = new_buffer(tensor(t).shape);
    elementwise_kernel kernel{
        .extents = s.stored->shape, .operations = {}, .operands = {*s.stored}, .over = {}, .operand_in_space = {}};
    kernel.operations.push_back({.what = operation::kind::number, .value = tensor(t).number});
    kernel.operations.push_back({.what = operation::kind::write, .operand = 0});
    push_kernel(std::move(kernel));
  }
  return *s.stored;
}

// Returns a buffer with the elements of a tensor, in this type and in the layout of `s`.
location planner::copy_with_layout(std::uint16_t t, const tensor_shape& s, dtype type) {
  std::vector<location>& copies = tensors_[t].copies;
  auto found =
      std::ranges::find_if(copies, [&](const location& l) { return l.type == type && same_layout(l.shape, s); });
  if (found == copies.end()) {
    found = copies.insert(found, new_buffer(s, type));
    copy(*tensors_[t].stored, *found);
  }
  location out = *found;
  out.shape = s;
  return out;
}

// Returns the elements of a tensor as a dense tensor of the type in which the graph is computed.
location planner::dense_values(std::uint16_t t) {
  location l = location_of(t);
  const bool fits = l.type == out_.compute_type && is_dense(l.shape);
  l.shape.strides = dense_strides(l.shape);
  return fits ? l : copy_with_layout(t, l.shape, out_.compute_type);
}

// Returns the elements of a tensor as a dense tensor of the type in which they are stored: of indexes in memory, their
// own.
location planner::dense_as_stored(std::uint16_t t) {
  const location l = location_of(t);
  if (is_dense(l.shape)) return l;
  tensor_shape shape = l.shape;
  shape.strides = dense_strides(shape);
  return copy_with_layout(t, shape, l.type);
}

void planner::add_view(const encoded_node& n) {
  const tensor_shape& result = tensor(n.outputs[0]).shape;
  auto view = view_of(n, location_of(n.inputs[0]), result);
  if (!view) view = view_of(n, dense_as_stored(n.inputs[0]), result);
  tensors_[n.outputs[0]].stored = view;
}

void planner::add_concatenation(const encoded_node& n) {
  const std::uint16_t out = n.outputs[0];
  const location result = tensors_[out].only_write != no_tensor
                              ? result_location(out)
                              : new_buffer(wanted_shape(graph_, uses_, out), stored_type(out));
  const auto along = static_cast<std::size_t>(n.attributes.as<concatenation_attributes>().along);
  std::int64_t first = 0;
  for (std::size_t k = 0; k < n.input_count; ++k) {
    location part = result;
    part.shape.extents = tensor(n.inputs[k]).shape.extents;
    part.offset += first * result.shape.strides[along];
    first += part.shape.extents[along];
    copy(location_of(n.inputs[k]), part);
  }
  tensors_[out].stored = result;
}

void planner::add_operator_step(const encoded_node& n) {
  operator_step s{.what = n.what, .attributes = n.attributes, .inputs = {}, .outputs = {}, .workspace = {}};
  for (std::size_t k = 0; k < n.input_count; ++k)
    s.inputs.push_back(k < n.count_value_inputs() ? dense_values(n.inputs[k]) : dense_as_stored(n.inputs[k]));
  for (std::size_t k = 0; k < n.output_count; ++k)
    s.outputs.push_back(*(tensors_[n.outputs[k]].stored = result_location(n.outputs[k])));
  const std::int64_t engine_elements = limits_.workspace != nullptr ? limits_.workspace(s) : 0;
  const std::uint64_t workspace = workspace_bytes_of(graph_, n, out_.compute_type) +
                                  static_cast<std::uint64_t>(engine_elements) * bytes_of(out_.compute_type);
  if (workspace != 0) s.workspace = new_workspace(workspace);
  for (const location& l : s.inputs) extend_lifetime(l);
  for (const location& l : s.outputs) extend_lifetime(l);
  extend_lifetime(s.workspace);
  out_.steps.emplace_back(std::move(s));
}

// Returns a tensor as a match needs it: where it is, or a copy.
location planner::input_of_match(const fusion_match::tensor& as) {
  const location l = location_of(as.number);
  if (as.as_stored || (as.accepts != nullptr && l.type == as.type && as.accepts(l.shape))) return l;
  const bool aligned = !as.copied && static_cast<std::uint64_t>(l.offset) * bytes_of(l.type) % 16 == 0;
  if (l.type == as.type && aligned && same_layout(l.shape, as.shape)) return l;
  return copy_with_layout(as.number, as.shape, as.type);
}

void planner::add_fused_step(std::size_t which) {
  const fusion_match& match = matches_[which];
  for (const fusion_match::tensor& in : match.inputs)
    if (tensors_[in.number].operation_number && !tensors_[in.number].stored) close_kernel();
  fused_step s{.match = which, .inputs = {}, .outputs = {}, .workspace = {}};
  for (const fusion_match::tensor& in : match.inputs) s.inputs.push_back(input_of_match(in));
  for (const fusion_match::tensor& out : match.outputs) {
    std::optional<location>& stored = tensors_[out.number].stored;
    if (!stored) stored = new_buffer(out.shape, out.type);
    s.outputs.push_back(*stored);
  }
  if (match.workspace != 0) s.workspace = new_workspace(match.workspace);
  for (const location& l : s.inputs) extend_lifetime(l);
  for (const location& l : s.outputs) extend_lifetime(l);
  extend_lifetime(s.workspace);
  out_.steps.emplace_back(std::move(s));
}

}  // namespace

step_list steps_of(const encoded_graph& g, const elementwise_limits& limits, std::span<const fusion_match> matches) {
  return planner(g, limits, matches).plan();
}

}  // namespace troupe::dnn
