// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <troupe/base/enumeration.hpp>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/dnn/graph/op.hpp>

/// The attributes of attention nodes, and the indexes of their inputs.
namespace troupe::dnn {

/// The layout of sequences. `whole`: a sequence is all tokens of a row of the batch. `lengths`: it is the first tokens
/// of a row; a tensor holds their number. `offsets`: all sequences follow one another in one row; a tensor holds the
/// index of the first token of each.
enum class sequence_layout : std::int64_t { whole, lengths, offsets };
TROUPE_ENUM(sequence_layout, whole, lengths, offsets)

/// The attributes of an attention. Inputs: q, k, v, then optional inputs in the order of `attention_inputs`. Outputs: y
/// and statistics.
struct attention_attributes {
  static constexpr std::int64_t unlimited = std::int64_t{1} << 62;
  double scale, soft_cap;            ///< soft_cap: 0 if there is none
  std::int64_t left, right;          ///< number of keys before and after the diagonal, or unlimited
  std::int64_t bottom_right;         ///< 1 if the diagonal of the last query is the last key
  std::int64_t has_bias, has_alibi;  ///< flags
  sequence_layout queries, keys;     ///< unless it is `whole`, an i32 input has the lengths or offsets
  std::int64_t has_pages, has_step;  ///< flags
  double dropout;                    ///< probability that a weight becomes 0
  std::uint64_t seed, offset;        ///< of the dropout; offset is less than 2^32
};
/// The attributes of an attention's gradient. Inputs: dy, y, statistics, then the inputs of the attention. Outputs: dq,
/// dk, dv, and dbias if there is a bias.
using attention_gradient_attributes = attention_attributes;

/// The indexes of an attention node's inputs; `absent` for inputs that the node does not have.
struct attention_inputs {
  std::size_t count = 0;
  std::size_t dy, y, statistics;  ///< only for a gradient
  std::size_t q, k, v, bias;
  std::size_t numbers;  ///< number of inputs up to the bias; the inputs after them are i32 in memory
  std::size_t queries, keys, pages, step;

  constexpr attention_inputs(const attention_attributes& a, bool gradient) noexcept
      : dy(next_index(count, gradient)),
        y(next_index(count, gradient)),
        statistics(next_index(count, gradient)),
        q(count++),
        k(count++),
        v(count++),
        bias(next_index(count, a.has_bias != 0)),
        numbers(count),
        queries(next_index(count, a.queries != sequence_layout::whole)),
        keys(next_index(count, a.keys != sequence_layout::whole)),
        pages(next_index(count, a.has_pages != 0)),
        step(next_index(count, a.has_step != 0)) {}
};

constexpr bool is_attention(op o) noexcept { return o == op::attention || o == op::attention_gradient; }

constexpr bool is_sound(op what, const attention_attributes& a, const node_counts& n) noexcept {
  for (const std::int64_t flag : {a.bottom_right, a.has_bias, a.has_alibi, a.has_pages, a.has_step})
    if (!is_flag(flag)) return false;
  if (!is_known(a.queries) || !is_known(a.keys)) return false;
  const bool gradient = what == op::attention_gradient;
  if (a.has_pages != 0 && (gradient || a.keys == sequence_layout::offsets)) return false;
  for (const std::int64_t side : {a.left, a.right})
    if (side < 0 || side > attention_attributes::unlimited) return false;
  if (!(a.dropout >= 0 && a.dropout < 1)) return false;
  const std::size_t outputs = !gradient ? 2 : a.has_bias != 0 ? 4 : 3;
  return n == node_counts{attention_inputs(a, gradient).count, outputs};
}
constexpr std::size_t count_value_inputs(op what, const attention_attributes& a, const node_counts&) noexcept {
  return attention_inputs(a, what == op::attention_gradient).numbers;
}

}  // namespace troupe::dnn
