// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <troupe/dnn/graph/attributes.hpp>
#include <troupe/dnn/graph/op.hpp>

/// The attributes of attention nodes, and the positions of their inputs.
namespace troupe::dnn {

/// The layout of a sequence's tokens. whole: all tokens of a row of the batch. lengths: the first tokens of a row; a
/// tensor holds their number. offsets: all sequences one after another in one row; a tensor holds their first tokens.
enum class sequence_layout : std::int64_t { whole, lengths, offsets };

/// The attributes of an attention. Inputs: q, k, v, then the optional ones, in the order of `attention_inputs`.
/// Outputs: y and statistics.
struct attention_attributes {
  static constexpr std::int64_t unlimited = std::int64_t{1} << 62;
  double scale, soft_cap;            ///< soft_cap 0: none
  std::int64_t left, right;          ///< number of keys before and after the diagonal, or unlimited
  std::int64_t bottom_right;         ///< 1: the last query's diagonal is at the last key
  std::int64_t has_bias, has_alibi;  ///< flags
  sequence_layout queries, keys;     ///< unless whole, an i32 input has the lengths or offsets
  std::int64_t has_pages, has_step;  ///< flags
  double dropout;                    ///< the probability
  std::uint64_t seed, offset;        ///< of the dropout; offset is below 2^32
};
/// The attributes of an attention's gradient. Inputs: dy, y, statistics, then those of attention. Outputs: dq, dk, dv,
/// and dbias if there is a bias.
using attention_gradient_attributes = attention_attributes;

/// The indexes of an attention node's inputs; `absent` for those that it does not have.
struct attention_inputs {
  std::size_t count = 0;
  std::size_t dy, y, statistics;  ///< only of a gradient
  std::size_t q, k, v, bias;
  std::size_t numbers;  ///< count of the inputs up to the bias; those after them are i32 in memory
  std::size_t queries, keys, pages, step;

  constexpr attention_inputs(const attention_attributes& f, bool gradient) noexcept
      : dy(next_index(count, gradient)),
        y(next_index(count, gradient)),
        statistics(next_index(count, gradient)),
        q(count++),
        k(count++),
        v(count++),
        bias(next_index(count, f.has_bias != 0)),
        numbers(count),
        queries(next_index(count, f.queries != sequence_layout::whole)),
        keys(next_index(count, f.keys != sequence_layout::whole)),
        pages(next_index(count, f.has_pages != 0)),
        step(next_index(count, f.has_step != 0)) {}
};

constexpr bool is_attention(op o) noexcept { return o == op::attention || o == op::attention_gradient; }

}  // namespace troupe::dnn
