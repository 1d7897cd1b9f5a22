// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstring>
#include <troupe/dnn/graph/encoded_graph.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/operations/blocks/attributes.hpp>
#include <troupe/dnn/operations/ctc/attributes.hpp>
#include <troupe/dnn/operations/normalization/attributes.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>
#include <troupe/dnn/operations/random/attributes.hpp>
#include <troupe/dnn/operations/recurrence/attributes.hpp>
#include <troupe/dnn/operations/recurrence/layout.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/resampling/attributes.hpp>
#include <troupe/request/records.hpp>

namespace troupe::dnn {
namespace {

using place = encoded_tensor::place;

bool is_sound(const encoded_tensor& t, std::size_t memory) noexcept {
  if (!is_known(t.type) || t.where > place::number || t.shape.rank > tensor_shape::max_rank) return false;
  if (t.where == place::memory && t.memory >= memory) return false;
  const std::int64_t elements = elements_of(t.shape);
  return t.where == place::number ? elements == 1 : elements > 0;
}

// Returns true if a node has the inputs and outputs that its attributes call for: engines find them by their indexes.
bool has_counts(const encoded_node& n, std::int64_t inputs, std::int64_t outputs) noexcept {
  return n.input_count == inputs && n.output_count == outputs;
}
template <class Places>
bool has_counts(const encoded_node& n, const Places& p) noexcept {
  return n.input_count == p.inputs && n.output_count == p.outputs;
}
bool is_flag(std::int64_t word) noexcept { return word == 0 || word == 1; }

bool has_sound_normalization(const encoded_node& n) noexcept {
  const auto f = n.attributes.as<normalization_attributes>();
  if (!is_flag(f.rms) || !is_flag(f.has_affine) || !is_flag(f.has_running)) return false;
  if (n.what == op::normalization_gradient) return has_counts(n, normalization_gradient_places(f));
  return !(f.rms && f.has_running) && has_counts(n, normalization_places(f));
}

bool has_sound_attention(const encoded_node& n) noexcept {
  const auto f = n.attributes.as<attention_attributes>();
  for (const std::int64_t flag : {f.bottom_right, f.has_bias, f.has_alibi, f.has_pages, f.has_step})
    if (!is_flag(flag)) return false;
  for (const sequence_layout l : {f.queries, f.keys})
    if (l < sequence_layout::whole || l > sequence_layout::offsets) return false;
  const bool gradient = n.what == op::attention_gradient;
  if (f.has_pages && (gradient || f.keys == sequence_layout::offsets)) return false;
  for (const std::int64_t side : {f.left, f.right})
    if (side < 0 || side > attention_attributes::unlimited) return false;
  if (!(f.dropout >= 0 && f.dropout < 1)) return false;
  return has_counts(n, static_cast<std::int64_t>(attention_inputs(f, gradient).count), gradient ? 3 + f.has_bias : 2);
}

bool has_sound_recurrence(const encoded_node& n) noexcept {
  const auto f = n.attributes.as<recurrence_attributes>();
  const std::int64_t flags[] = {f.reversed,    f.has_state, f.has_biases, f.has_projection,
                                f.has_lengths, f.has_dy,    f.has_dh,     f.has_dc};
  if (f.cell < recurrent_cell::relu || f.cell > recurrent_cell::gru || !std::all_of(flags, std::end(flags), is_flag))
    return false;
  const bool is_lstm = detail::has_c(f.cell);
  if (!is_lstm && (f.has_projection || f.has_dc)) return false;
  if (n.what == op::recurrence)
    return !f.has_dy && !f.has_dh && !f.has_dc && has_counts(n, detail::recurrence_places(f));
  return (f.has_dy || f.has_dh || f.has_dc) && has_counts(n, detail::recurrence_gradient_places(f));
}

bool has_sound_attributes(const encoded_node& n) noexcept {
  switch (n.what) {
    case op::pointwise: {
      const epilogue::op function = n.attributes.as<pointwise_attributes>().function;
      return epilogue::is_function(function) && has_counts(n, epilogue::info(function).arguments, 1);
    }
    case op::reduction: {
      const reduction_kind kind = n.attributes.as<reduction_attributes>().kind;
      return kind >= reduction_kind::sum && kind <= reduction_kind::norm2;
    }
    case op::pooling:
    case op::pooling_gradient: {
      const pooling_kind kind = n.attributes.as<pooling_attributes>().kind;
      if (kind < pooling_kind::maximum || kind > pooling_kind::mean_of_image) return false;
      return n.what == op::pooling || has_counts(n, kind == pooling_kind::maximum ? 2 : 1, 1);
    }
    case op::normalization:
    case op::normalization_gradient:
      return has_sound_normalization(n);
    case op::recurrence:
    case op::recurrence_gradient:
      return has_sound_recurrence(n);
    case op::softmax:
    case op::softmax_gradient:
      return is_flag(n.attributes.as<softmax_attributes>().logarithmic);
    case op::attention:
    case op::attention_gradient:
      return has_sound_attention(n);
    case op::random: {
      const random_kind kind = n.attributes.as<random_attributes>().kind;
      return kind >= random_kind::uniform && kind <= random_kind::bernoulli;
    }
    case op::resampling:
    case op::resampling_gradient: {
      const auto f = n.attributes.as<resampling_attributes>();
      return f.kind >= resampling_kind::nearest && f.kind <= resampling_kind::cubic && is_flag(f.aligned);
    }
    case op::pooling_with_indexes:
    case op::pooling_index_gradient:
      return n.attributes.as<pooling_attributes>().kind == pooling_kind::maximum;
    case op::block_quantization:
    case op::block_dequantization:
      return n.attributes.as<block_attributes>().block > 0;
    default:
      return true;
  }
}

// Returns false if a seed's words are not 2 or 4 of u32 or i32 in memory, which engines read without conversion.
bool has_sound_words(const encoded_node& n, std::span<const encoded_tensor> all) noexcept {
  if (n.what != op::random || n.input_count == 0) return true;
  const encoded_tensor& t = all[n.inputs[0]];
  const std::int64_t count = elements_of(t.shape);
  return t.where == place::memory && (t.type == dtype::u32 || t.type == dtype::i32) && (count == 2 || count == 4);
}

bool is_sound(const encoded_node& n) noexcept {
  if (!is_known(n.what)) return false;
  const op_info& i = info(n.what);
  return n.input_count >= i.least_inputs && n.input_count <= i.most_inputs && n.output_count >= i.least_outputs &&
         n.output_count <= i.most_outputs && has_sound_attributes(n);
}

}  // namespace

std::size_t encoded_node::count_value_inputs() const noexcept {
  switch (what) {
    case op::recurrence:
    case op::recurrence_gradient:
      return input_count - (attributes.as<recurrence_attributes>().has_lengths != 0 ? 1u : 0u);
    case op::ctc_loss:
    case op::ctc_loss_gradient:
      return ctc_inputs(what == op::ctc_loss_gradient).labels;
    case op::attention:
    case op::attention_gradient:
      return attention_inputs(attributes.as<attention_attributes>(), what == op::attention_gradient).numbers;
    default:
      return input_count;
  }
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
    if (!dnn::is_sound(t, memory_.size())) return false;

  const auto can_be_read = [&](const encoded_tensor& t, bool computed) {
    return t.where == place::memory ? memory_[t.memory].mode != access_mode::write
                                    : computed || t.where == place::number;
  };
  enum class state : std::uint8_t { not_computed, computed, written };
  std::array<state, most_tensors> states{};
  for (const encoded_node& n : nodes_) {
    if (!dnn::is_sound(n)) return false;
    for (const std::uint16_t t : std::span(n.inputs).first(n.input_count))
      if (t >= tensors_.size() || !can_be_read(tensors_[t], states[t] == state::computed)) return false;
    if (!has_sound_words(n, tensors_)) return false;
    for (std::size_t k = n.count_value_inputs(); k < n.input_count; ++k)
      if (const encoded_tensor& t = tensors_[n.inputs[k]]; t.where != place::memory || t.type != dtype::i32)
        return false;
    const place output = n.what == op::write ? place::memory : place::within;
    for (const std::uint16_t t : std::span(n.outputs).first(n.output_count)) {
      if (t >= tensors_.size() || tensors_[t].where != output || states[t] != state::not_computed) return false;
      states[t] = n.what == op::write ? state::written : state::computed;
    }
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
