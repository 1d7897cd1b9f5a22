// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <troupe/base/round_up.hpp>
#include <troupe/dnn/steps/buffer_offsets.hpp>
#include <troupe/dnn/steps/precision.hpp>
#include <troupe/dnn/steps/read_set.hpp>
#include <troupe/dnn/steps/step_workspace.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn {
namespace {

bool is_of_elements(op o) noexcept {
  return o == op::pointwise || o == op::convert || o == op::write || o == op::random;
}

class planner {
 public:
  planner(const encoded_graph& g, const elementwise_limits& most, std::span<const fusion_match> matches)
      : graph_(g),
        most_(most),
        matches_(matches),
        tensors_(g.tensors().size()),
        match_of_(g.nodes().size(), nobody),
        reads_(g) {
    out_.numbers = needs_double(g) ? dtype::f64 : dtype::f32;
    for (std::size_t i = 0; i < matches.size(); ++i) {
      for (const std::uint16_t n : matches[i].nodes) match_of_[n] = i;
      for (const fusion_match::tensor& in : matches[i].inputs) reads_.read_at(matches[i].at, in.number);
    }
  }
  step_list plan();

 private:
  using operation = elementwise_kernel::operation;
  struct tensor_state {
    std::optional<location> place;        ///< where it can be read
    std::vector<location> copies = {};    ///< of it, that lie otherwise or are of another type
    const tensor_shape* order = nullptr;  ///< as a fusion match wants it, if it is kept in memory between steps
    std::optional<std::uint16_t> slot;    ///< the operation of the open elementwise kernel that has it
    std::size_t last_reader = 0;          ///< the last node that reads it
    std::size_t readers = 0;
    std::uint16_t writes_to = no_tensor;  ///< the memory that is all that becomes of it
  };

  static constexpr std::size_t nobody = SIZE_MAX;
  const encoded_tensor& tensor(std::uint16_t t) const noexcept { return graph_.tensors()[t]; }
  bool is_claimed(std::size_t node) const noexcept { return match_of_[node] != nobody; }
  location memory_of(std::uint16_t t) const noexcept {
    const encoded_tensor& of = tensor(t);
    return {.is_buffer = false, .number = of.memory, .type = of.type, .offset = 0, .shape = of.shape};
  }
  void look();
  void add(const encoded_node& n);
  void use(const location& l);

  // Passes.
  std::uint16_t put(const operation& o);
  std::uint16_t operand_of(const location& l);
  std::uint16_t slot_of(std::uint16_t t);
  bool is_full() const noexcept;
  void join(const encoded_node& n);
  std::uint16_t join_random(const encoded_node& n);
  void close();
  void push(elementwise_kernel p);

  // Memory that is read and written.
  bool is_in_place(const encoded_node& n) const noexcept;
  void write_in_place(const encoded_node& n);
  void write_later();
  void buffer_copy(std::uint16_t t);

  // Steps.
  void copy(const location& from, const location& to);
  location new_buffer(const tensor_shape& s, dtype type);
  location new_buffer(const tensor_shape& s) {
    tensor_shape dense = s;
    dense.strides = dense_strides(s);
    return new_buffer(dense, out_.numbers);
  }
  location new_room(std::uint64_t bytes) {
    return new_buffer({.rank = 1, .extents = {static_cast<std::int64_t>(bytes)}, .strides = {1}}, dtype::u8);
  }
  location result(std::uint16_t t);
  location kept(std::uint16_t t);
  location place_of(std::uint16_t t);
  location copy_of(std::uint16_t t, const tensor_shape& s, dtype type);
  location dense(std::uint16_t t);
  location whole(std::uint16_t t);
  void add_view(const encoded_node& n);
  void add_concatenation(const encoded_node& n);
  void add_whole(const encoded_node& n);
  void add_claimed(std::size_t which);
  location laid(const fusion_match::tensor& as);

  const encoded_graph& graph_;
  const elementwise_limits most_;
  const std::span<const fusion_match> matches_;
  step_list out_;
  std::vector<tensor_state> tensors_;
  std::vector<std::size_t> match_of_;  // of each node
  std::vector<used_bytes> buffers_;
  std::optional<elementwise_kernel> open_;
  std::vector<std::uint16_t> in_pass_;  // tensors that have a slot in it
  std::size_t node_ = 0;
  read_set reads_;
  std::vector<encoded_node> later_;  // writes to memory that is still read where they stand
};

step_list planner::plan() {
  look();
  for (const encoded_node& n : graph_.nodes()) {
    if (!is_claimed(node_))
      add(n);
    else if (const std::size_t which = match_of_[node_]; matches_[which].at == node_)
      add_claimed(which);
    ++node_;
  }
  close();
  write_later();
  out_.buffers = places_of(buffers_, out_.bytes);
  return std::move(out_);
}

// Finds out what becomes of each tensor.
void planner::look() {
  const auto nodes = graph_.nodes();
  for (const fusion_match& c : matches_) {
    for (const fusion_match::tensor& in : c.inputs) {
      tensor_state& t = tensors_[in.number];
      t.last_reader = std::max<std::size_t>(t.last_reader, c.at), ++t.readers;
      if (t.order == nullptr) t.order = &in.shape;
    }
  }
  for (std::size_t i = 0; i < nodes.size(); ++i)
    for (std::size_t k = 0; k < nodes[i].input_count && !is_claimed(i); ++k) {
      tensor_state& t = tensors_[nodes[i].inputs[k]];
      t.last_reader = std::max(t.last_reader, i), ++t.readers;
      const encoded_tensor& to = tensor(nodes[i].outputs[0]);
      const bool is_copy = nodes[i].what == op::write && to.type == out_.numbers && is_dense(to.shape);
      t.writes_to = is_copy && t.readers == 1 ? nodes[i].outputs[0] : no_tensor;
    }
  for (std::size_t i = 0; i < tensors_.size(); ++i)
    if (const auto t = static_cast<std::uint16_t>(i); tensor(t).where == encoded_tensor::place::memory)
      tensors_[i].place = memory_of(t);
}

void planner::add(const encoded_node& n) {
  const encoded_tensor& out = tensor(n.outputs[0]);
  if (is_of_elements(n.what)) {
    if (is_in_place(n)) return write_in_place(n);
    // A step may have put its result where it is written to.
    const tensor_state& from = tensors_[n.input_count == 0 ? n.outputs[0] : n.inputs[0]];
    if (n.what == op::write && from.writes_to == n.outputs[0] && from.place && !from.place->is_buffer &&
        tensor(n.inputs[0]).where == encoded_tensor::place::within && from.place->number == out.memory)
      return;
    if (open_ && (!same_extents(open_->extents, out.shape) || is_full())) close();
    return join(n);
  }
  // The open elementwise kernel can go on behind a step that needs nothing of it.
  for (std::size_t k = 0; k < n.input_count; ++k)
    if (tensors_[n.inputs[k]].slot && !tensors_[n.inputs[k]].place) close();
  if (n.what == op::reshape || n.what == op::transposition || n.what == op::slice) return add_view(n);
  if (n.what == op::concatenation) return add_concatenation(n);
  add_whole(n);
}

// A buffer is used by the next step.
void planner::use(const location& l) {
  if (!l.is_buffer) return;
  used_bytes& b = buffers_[l.number];
  b.first = std::min(b.first, out_.steps.size()), b.last = out_.steps.size();
}

// -- passes

std::uint16_t planner::put(const operation& o) {
  open_->operations.push_back(o);
  return static_cast<std::uint16_t>(open_->operations.size() - 1);
}
std::uint16_t planner::operand_of(const location& l) {
  open_->operands.push_back(l);
  return static_cast<std::uint16_t>(open_->operands.size() - 1);
}

// Whether a further node, with what is kept of the elementwise kernel at its end, could be too much.
bool planner::is_full() const noexcept {
  constexpr std::size_t of_a_node = 4;
  const std::size_t kept = in_pass_.size();
  return open_->operations.size() + kept + of_a_node > most_.operations ||
         open_->operands.size() + kept + of_a_node > most_.operands || open_->sequences.size() >= most_.sequences;
}

std::uint16_t planner::slot_of(std::uint16_t t) {
  tensor_state& s = tensors_[t];
  if (s.slot) return *s.slot;
  if (tensor(t).where == encoded_tensor::place::number)
    return put({.what = operation::kind::number, .value = tensor(t).number});
  const std::uint16_t slot = put({.what = operation::kind::read, .operand = operand_of(*s.place)});
  s.slot = slot, in_pass_.push_back(t);
  return slot;
}

void planner::join(const encoded_node& n) {
  const encoded_tensor& out = tensor(n.outputs[0]);
  if (!open_) open_.emplace().extents = out.shape;
  operation o{.what = operation::kind::apply};
  if (n.what == op::random) {
    tensors_[n.outputs[0]].slot = join_random(n);
    return in_pass_.push_back(n.outputs[0]);
  }
  for (std::size_t k = 0; k < n.input_count; ++k) o.from[k] = slot_of(n.inputs[k]);
  for (std::size_t k = n.input_count; k < 3; ++k) o.from[k] = o.from[0];
  tensor_state& made = tensors_[n.outputs[0]];
  if (n.what == op::write) {
    o.what = operation::kind::write, o.operand = operand_of(memory_of(n.outputs[0]));
    put(o);
    return;
  }
  if (n.what == op::convert)
    o.what = operation::kind::round, o.type = out.type;
  else
    o.function = n.attributes.as<pointwise_attributes>().function;
  made.slot = put(o);
  in_pass_.push_back(n.outputs[0]);
}

std::uint16_t planner::join_random(const encoded_node& n) {
  elementwise_kernel::sequence s{n.attributes.as<random_attributes>(), {}};
  if (n.input_count != 0) s.words = place_of(n.inputs[0]);
  open_->sequences.push_back(s);
  const auto number = static_cast<std::uint16_t>(open_->sequences.size() - 1);
  location positions{.is_buffer = false, .number = no_tensor, .type = {}, .offset = 0, .shape = open_->extents};
  positions.shape.strides = dense_strides(positions.shape);
  return put({.what = operation::kind::random, .operand = operand_of(positions), .from = {number}});
}

// Ends the open elementwise kernel. What is wanted of it later is kept.
void planner::close() {
  if (!open_) return;
  for (const std::uint16_t t : in_pass_) {
    tensor_state& s = tensors_[t];
    if (!s.place && s.readers > 0 && s.last_reader >= node_) {
      s.place = kept(t);
      put({.what = operation::kind::write, .operand = operand_of(*s.place), .from = {*s.slot}});
    }
    s.slot.reset();
  }
  in_pass_.clear();
  elementwise_kernel p = *std::exchange(open_, std::nullopt);
  const auto writes = [](const operation& o) { return o.what == operation::kind::write; };
  if (std::any_of(p.operations.begin(), p.operations.end(), writes)) push(std::move(p));
}

// The elements are walked in the order of memory that is written, of the graph's rather than a buffer's.
void planner::push(elementwise_kernel p) {
  constexpr std::size_t none = SIZE_MAX;
  std::size_t first = none;
  for (const operation& o : p.operations)
    if (o.what == operation::kind::write && (first == none || p.operands[first].is_buffer)) first = o.operand;
  std::vector<axis_values> strides;
  p.position_in_space.resize(p.operands.size());
  const auto take = [&](std::size_t i) {
    p.position_in_space[i] = strides.size();
    strides.push_back(broadcast_strides(p.operands[i].shape, p.extents.rank, p.extents.extents));
  };
  if (first != none) take(first);
  for (std::size_t i = 0; i < p.operands.size(); ++i)
    if (i != first) take(i);
  p.over = iteration_space(p.extents.rank, p.extents.extents, std::move(strides), true);
  for (const location& l : p.operands) use(l);
  out_.steps.emplace_back(std::move(p));
}

// -- memory that is read and written

bool planner::is_in_place(const encoded_node& n) const noexcept {
  return n.what == op::write && reads_.any(tensor(n.outputs[0]).memory);
}

// An elementwise kernel may read an element and write it, but not one that another of its elements still needs.
void planner::write_in_place(const encoded_node& n) {
  const std::uint16_t from = n.inputs[0];
  const location to = memory_of(n.outputs[0]);
  const auto is_there = [&](const location& l) { return !l.is_buffer && l.number == to.number; };
  const auto is_elsewhere = [&](const location& l) {
    return is_there(l) && (l.offset != 0 || l.type != to.type || l.shape != to.shape);
  };
  const auto& place = tensors_[from].place;
  if (place && is_there(*place) && !is_elsewhere(*place)) return;
  if (reads_.any_after(node_, to.number)) {
    tensors_[from].last_reader = SIZE_MAX;
    reads_.read_at_end(from);
    later_.push_back(n);
    return;
  }
  const auto reads_elsewhere = [&] {
    return std::any_of(open_->operands.begin(), open_->operands.end(), is_elsewhere);
  };
  if (open_ && (!same_extents(open_->extents, to.shape) || is_full() || reads_elsewhere())) close();
  if (place && is_elsewhere(*place)) buffer_copy(from);
  join(n);
}

// Writes what had to wait for readers. Some of it may be in memory that others of it overwrite.
void planner::write_later() {
  const auto is_overwritten = [&](const location& l) {
    return !l.is_buffer && std::any_of(later_.begin(), later_.end(),
                                       [&](const encoded_node& n) { return tensor(n.outputs[0]).memory == l.number; });
  };
  for (const encoded_node& n : later_)
    if (const auto& place = tensors_[n.inputs[0]].place; place && is_overwritten(*place)) buffer_copy(n.inputs[0]);
  for (const encoded_node& n : later_) {
    if (open_ && (!same_extents(open_->extents, tensor(n.outputs[0]).shape) || is_full())) close();
    join(n);
  }
  close();
}

// Puts a tensor into a buffer, where what is written does not change it.
void planner::buffer_copy(std::uint16_t t) {
  const location from = *tensors_[t].place;
  tensors_[t].place = new_buffer(from.shape);
  copy(from, *tensors_[t].place);
}

// -- steps

void planner::copy(const location& from, const location& to) {
  elementwise_kernel p{
      .extents = to.shape, .operations = {}, .operands = {from, to}, .over = {}, .position_in_space = {}};
  p.operations.push_back({.what = operation::kind::read, .operand = 0});
  p.operations.push_back({.what = operation::kind::write, .operand = 1});
  push(std::move(p));
}

// The elements of `s` have no gaps, in any order of its indexes.
location planner::new_buffer(const tensor_shape& s, dtype type) {
  const location l{
      .is_buffer = true, .number = static_cast<std::uint16_t>(buffers_.size()), .type = type, .offset = 0, .shape = s};
  buffers_.push_back({round_up(static_cast<std::uint64_t>(elements_of(s)) * bytes_of(type), 256), SIZE_MAX, 0});
  return l;
}

// Where a step puts a tensor: in the memory that it is written to, if that is all that becomes of it.
location planner::result(std::uint16_t t) {
  const std::uint16_t to = tensors_[t].writes_to;
  if (to == no_tensor || reads_.any(tensor(to).memory) || !same_extents(tensor(to).shape, tensor(t).shape))
    return new_buffer(tensor(t).shape);
  location l = memory_of(to);
  l.shape.strides = dense_strides(l.shape);
  return l;
}

// Where an elementwise kernel puts a tensor. One that was rounded to a narrow type is kept in it.
location planner::kept(std::uint16_t t) {
  const tensor_state& s = tensors_[t];
  if (s.writes_to != no_tensor) return result(t);
  const dtype type = tensor(t).type;
  tensor_shape shape = tensor(t).shape;
  shape.strides = s.order != nullptr ? s.order->strides : dense_strides(shape);
  return new_buffer(shape, bytes_of(type) < bytes_of(out_.numbers) ? type : out_.numbers);
}

// A number by value lies nowhere until a step needs it in memory.
location planner::place_of(std::uint16_t t) {
  tensor_state& s = tensors_[t];
  if (!s.place && tensor(t).where == encoded_tensor::place::number) {
    s.place = new_buffer(tensor(t).shape);
    elementwise_kernel p{
        .extents = s.place->shape, .operations = {}, .operands = {*s.place}, .over = {}, .position_in_space = {}};
    p.operations.push_back({.what = operation::kind::number, .value = tensor(t).number});
    p.operations.push_back({.what = operation::kind::write, .operand = 0});
    push(std::move(p));
  }
  return *s.place;
}

// A buffer with the elements of a tensor, which lie as those of `s` do.
location planner::copy_of(std::uint16_t t, const tensor_shape& s, dtype type) {
  std::vector<location>& copies = tensors_[t].copies;
  auto found =
      std::ranges::find_if(copies, [&](const location& l) { return l.type == type && lies_alike(l.shape, s); });
  if (found == copies.end()) {
    found = copies.insert(found, new_buffer(s, type));
    copy(*tensors_[t].place, *found);
  }
  location out = *found;
  out.shape = s;
  return out;
}

location planner::dense(std::uint16_t t) {
  location l = place_of(t);
  const bool does = l.type == out_.numbers && is_dense(l.shape);
  l.shape.strides = dense_strides(l.shape);
  return does ? l : copy_of(t, l.shape, out_.numbers);
}

// Integers in memory, as they are but without gaps.
location planner::whole(std::uint16_t t) {
  const location& l = *tensors_[t].place;
  if (is_dense(l.shape)) return l;
  tensor_shape shape = l.shape;
  shape.strides = dense_strides(shape);
  return copy_of(t, shape, dtype::i32);
}

void planner::add_view(const encoded_node& n) {
  location l = n.what == op::reshape ? dense(n.inputs[0]) : place_of(n.inputs[0]);
  const tensor_shape before = l.shape;
  l.shape = tensor(n.outputs[0]).shape;
  if (n.what == op::reshape) l.shape.strides = dense_strides(l.shape);
  for (std::size_t i = 0; n.what != op::reshape && i < l.shape.rank; ++i) {
    const bool turned = n.what == op::transposition;
    l.shape.strides[i] =
        before.strides[turned ? static_cast<std::size_t>(n.attributes.as<transposition_attributes>().from[i]) : i];
    if (!turned) l.offset += n.attributes.as<slice_attributes>().first[i] * before.strides[i];
  }
  tensors_[n.outputs[0]].place = l;
}

void planner::add_concatenation(const encoded_node& n) {
  const location whole = result(n.outputs[0]);
  const auto along = static_cast<std::size_t>(n.attributes.as<concatenation_attributes>().along);
  std::int64_t first = 0;
  for (std::size_t k = 0; k < n.input_count; ++k) {
    location part = whole;
    part.shape.extents = tensor(n.inputs[k]).shape.extents;
    part.offset += first * whole.shape.strides[along];
    first += part.shape.extents[along];
    copy(place_of(n.inputs[k]), part);
  }
  tensors_[n.outputs[0]].place = whole;
}

void planner::add_whole(const encoded_node& n) {
  operator_step s{.what = n.what, .attributes = n.attributes, .inputs = {}, .outputs = {}, .workspace = {}};
  for (std::size_t k = 0; k < n.input_count; ++k)
    s.inputs.push_back(k < n.count_numbers() ? dense(n.inputs[k]) : whole(n.inputs[k]));
  for (std::size_t k = 0; k < n.output_count; ++k)
    s.outputs.push_back(*(tensors_[n.outputs[k]].place = result(n.outputs[k])));
  const std::int64_t of_engine = most_.workspace != nullptr ? most_.workspace(s) : 0;
  const std::uint64_t workspace =
      workspace_bytes_of(graph_, n, out_.numbers) + static_cast<std::uint64_t>(of_engine) * bytes_of(out_.numbers);
  if (workspace != 0) s.workspace = new_room(workspace);
  for (const location& l : s.inputs) use(l);
  for (const location& l : s.outputs) use(l);
  use(s.workspace);
  out_.steps.emplace_back(std::move(s));
}

location planner::laid(const fusion_match::tensor& as) {
  const location l = place_of(as.number);
  const bool aligned = !as.copied && static_cast<std::uint64_t>(l.offset) * bytes_of(l.type) % 16 == 0;
  if (l.type == as.type && aligned && lies_alike(l.shape, as.shape)) return l;
  return copy_of(as.number, as.shape, as.type);
}

void planner::add_claimed(std::size_t which) {
  const fusion_match& c = matches_[which];
  for (const fusion_match::tensor& in : c.inputs)
    if (tensors_[in.number].slot && !tensors_[in.number].place) close();
  vendor_step s{.which = which, .inputs = {}, .outputs = {}, .workspace = {}};
  for (const fusion_match::tensor& in : c.inputs) s.inputs.push_back(laid(in));
  for (const fusion_match::tensor& out : c.outputs) {
    std::optional<location>& place = tensors_[out.number].place;
    if (!place) place = new_buffer(out.shape, out.type);
    s.outputs.push_back(*place);
  }
  if (c.workspace != 0) s.workspace = new_room(c.workspace);
  for (const location& l : s.inputs) use(l);
  for (const location& l : s.outputs) use(l);
  use(s.workspace);
  out_.steps.emplace_back(std::move(s));
}

}  // namespace

step_list steps_of(const encoded_graph& g, const elementwise_limits& most, std::span<const fusion_match> matches) {
  return planner(g, most, matches).plan();
}

}  // namespace troupe::dnn
