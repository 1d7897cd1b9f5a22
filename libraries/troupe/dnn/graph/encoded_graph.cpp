// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/operations/blocks/attributes.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/ctc/attributes.hpp>
#include <troupe/dnn/operations/cumulative/attributes.hpp>
#include <troupe/dnn/operations/indexing/attributes.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/operations/random/attributes.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/dnn/operations/response_norm/attributes.hpp>
#include <troupe/dnn/operations/selection/attributes.hpp>
#include <troupe/dnn/operations/shaping/attributes.hpp>
#include <troupe/request/encoding/records.hpp>

namespace troupe::dnn {
namespace {

using place = encoded_tensor::place;

bool is_sound_tensor(const encoded_tensor& t, std::size_t memory) noexcept {
  if (!is_known(t.type) || t.where > place::number || t.shape.rank > tensor_shape::max_rank) return false;
  if (t.where == place::memory && t.memory >= memory) return false;
  const std::int64_t elements = elements_of(t.shape);
  return t.where == place::number ? elements == 1 : elements > 0;
}

template <class F>
bool has_sound_attributes(const encoded_node& n) noexcept {
  return is_sound(n.what, n.attributes.as<F>(), {n.input_count, n.output_count});
}
template <class F>
std::size_t value_inputs_of(const encoded_node& n) noexcept {
  return count_value_inputs(n.what, n.attributes.as<F>(), {n.input_count, n.output_count});
}

// Indexes of these operations may be i64, all other positions and counts are i32.
bool may_have_long_indexes(op what) noexcept { return what == op::gather || what == op::scatter_add; }

// Returns false if attributes would make an engine leave the tensors of an operation on slices or lines.
bool has_sound_lines(const encoded_node& n, std::span<const encoded_tensor> all) noexcept {
  if (n.what != op::slice && n.what != op::cumulative_sum && n.what != op::top_k) return true;
  const tensor_shape& x = all[n.inputs[0]].shape;
  const std::size_t axis =
      n.what == op::cumulative_sum ? static_cast<std::size_t>(n.attributes.as<cumulative_attributes>().axis)
      : n.what == op::top_k        ? static_cast<std::size_t>(n.attributes.as<selection_attributes>().axis)
                                   : 0;
  if (axis >= x.rank || (n.what == op::top_k && x.extents[axis] > most_iota)) return false;
  for (const std::uint16_t t : std::span(n.outputs).first(n.output_count)) {
    const tensor_shape& y = all[t].shape;
    if (y.rank != x.rank) return false;
    for (std::size_t i = 0; i < x.rank; ++i) {
      if (n.what == op::slice) {
        const auto a = n.attributes.as<slice_attributes>();
        if (a.step[i] < 1 || a.first[i] < 0 || a.first[i] >= x.extents[i] ||
            (x.extents[i] - 1 - a.first[i]) / a.step[i] < y.extents[i] - 1)
          return false;
      } else if (n.what == op::top_k && i == axis ? y.extents[i] > x.extents[i] : y.extents[i] != x.extents[i]) {
        return false;
      }
    }
  }
  return true;
}

// What the attributes of an operation determine.
struct attribute_rules {
  bool (*is_sound)(const encoded_node& n) noexcept;
  std::size_t (*count_value_inputs)(const encoded_node& n) noexcept;
};
template <class F>
constexpr attribute_rules rules_of{&has_sound_attributes<F>, &value_inputs_of<F>};

constexpr attribute_rules rules[op_count] = {
    rules_of<no_attributes>,
#define OPERATION(NAME, KIND, ATTRIBUTES, ...) rules_of<ATTRIBUTES>,
#include <troupe/dnn/graph/op_list.inc>
};

// Returns false if a seed's words are not 2 or 4 of u32 or i32 in memory, which engines read without conversion.
bool has_sound_words(const encoded_node& n, std::span<const encoded_tensor> all) noexcept {
  if (n.what != op::random || n.input_count == 0) return true;
  const encoded_tensor& t = all[n.inputs[0]];
  const std::int64_t count = elements_of(t.shape);
  return t.where == place::memory && (t.type == dtype::u32 || t.type == dtype::i32) && (count == 2 || count == 4);
}

bool is_sound_node(const encoded_node& n) noexcept {
  if (!is_known(n.what)) return false;
  const op_info& i = info(n.what);
  return n.input_count >= i.least_inputs && n.input_count <= i.most_inputs && n.output_count >= i.least_outputs &&
         n.output_count <= i.most_outputs && rules[index_of(n.what)].is_sound(n);
}

}  // namespace

std::size_t encoded_node::count_value_inputs() const noexcept {
  return rules[index_of(what)].count_value_inputs(*this);
}

encoded_graph::encoded_graph(const std::byte* encoded, std::size_t bytes) noexcept {
  head h{};
  if (bytes < sizeof h) return;
  std::memcpy(&h, encoded, sizeof h);
  if (h.nodes == 0 || h.nodes > most_nodes || h.tensors > most_tensors || h.memory > most_memory ||
      encoded_bytes(h.nodes, h.tensors, h.memory) != bytes)
    return;
  *this = encoded_graph(encoded);
  if (!is_sound()) *this = {};
}

encoded_graph::encoded_graph(const std::byte* encoded) noexcept {
  head h{};
  std::memcpy(&h, encoded, sizeof h);
  const std::byte* at = encoded + sizeof h;
  nodes_ = take_records<encoded_node>(at, h.nodes);
  tensors_ = take_records<encoded_tensor>(at, h.tensors);
  memory_ = take_records<encoded_memory>(at, h.memory);
}

bool encoded_graph::is_sound() const noexcept {
  for (const encoded_memory& m : memory_)
    if (m.mode > access_mode::read_write) return false;
  for (const encoded_tensor& t : tensors_)
    if (!is_sound_tensor(t, memory_.size())) return false;

  const auto can_be_read = [&](const encoded_tensor& t, bool computed) {
    return t.where == place::memory ? memory_[t.memory].mode != access_mode::write
                                    : computed || t.where == place::number;
  };
  enum class state : std::uint8_t { not_computed, computed, written };
  std::array<state, most_tensors> states;
  std::fill_n(states.begin(), tensors_.size(), state::not_computed);
  for (const encoded_node& n : nodes_) {
    if (!is_sound_node(n)) return false;
    for (const std::uint16_t t : std::span(n.inputs).first(n.input_count))
      if (t >= tensors_.size() || !can_be_read(tensors_[t], states[t] == state::computed)) return false;
    if (!has_sound_words(n, tensors_)) return false;
    for (std::size_t k = n.count_value_inputs(); k < n.input_count; ++k)
      if (const encoded_tensor& t = tensors_[n.inputs[k]];
          t.where != place::memory ||
          (t.type != dtype::i32 && !(t.type == dtype::i64 && may_have_long_indexes(n.what))))
        return false;
    const place output = n.what == op::write ? place::memory : place::intermediate;
    for (const std::uint16_t t : std::span(n.outputs).first(n.output_count)) {
      if (t >= tensors_.size() || tensors_[t].where != output || states[t] != state::not_computed) return false;
      states[t] = n.what == op::write ? state::written : state::computed;
    }
    if (!has_sound_lines(n, tensors_)) return false;
  }
  return true;
}

std::span<const std::byte> encoded_graph::structure() const noexcept {
  if (empty()) return {};
  // Only the records of memory have addresses. They are last, and the head has their number.
  return {reinterpret_cast<const std::byte*>(nodes_.data()) - sizeof(head),
          encoded_bytes(nodes_.size(), tensors_.size(), 0)};
}

}  // namespace troupe::dnn
