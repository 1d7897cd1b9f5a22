// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <troupe/dnn/value.hpp>

namespace troupe::dnn {

/// The keys that a query attends to, relative to its diagonal: the diagonal of query i is key i. With `bottom_right`,
/// the diagonal of the last query is the last key, and those of the others precede it one by one.
struct attention_window {
  std::optional<std::int64_t> left = {}, right = {};  ///< number of keys before and after the diagonal; not given: all
  bool bottom_right = false;
};
/// Windows in which a query attends to the keys up to its diagonal.
inline constexpr attention_window causal{.left = {}, .right = 0}, causal_bottom_right{{}, 0, true};

/// The positions of the tokens of each sequence, as i32 that are read from memory. Not given: all tokens of a row of
/// the batch.
struct attention_sequences {
  /// The number of tokens of each sequence. Those beyond have no effect, whatever they hold.
  std::optional<value> lengths = {};
  /// Sequences are packed one after another in one row: the first token of each, and the end of the last. They must not
  /// decrease.
  std::optional<value> offsets = {};
};

/// Sets some of a row's weights to 0, and divides the others by 1 - probability. The mask depends only on seed, offset,
/// batch, head, query and key: see `attention_dropping`.
struct attention_dropout {
  double probability = 0;
  std::uint64_t seed = 0;
  std::uint32_t offset = 0;
  /// One i32 in memory that is added to the offset, so that each run of one plan has another mask.
  std::optional<value> step = {};
};

/// Changes to the scores q * k, applied in this order, and the positions of the tokens.
struct attention_options {
  std::optional<double> scale = {};     ///< a factor; not given: 1 / sqrt(width)
  std::optional<double> soft_cap = {};  ///< score = cap * tanh(score / cap)
  std::optional<value> bias = {};       ///< added to the score: batch x heads x queries x keys; each extent may be 1
  /// Adds -slope * distance from the diagonal. The slopes of n heads are 2^(-8/n), 2^(-16/n) ... If n is not a power of
  /// 2, those of the next lower power p come first, then every other one of 2 p, from the first.
  bool alibi = false;
  attention_window window = {};
  attention_sequences queries = {}, keys = {};
  /// k and v are pools: pages x heads x tokens of a page x width. i32, batch x pages of a sequence: the page of the
  /// pool that holds each. Queries do not attend to a page that the pool does not have.
  std::optional<value> pages = {};
  std::optional<attention_dropout> dropout = {};
};

/// Weighted means of v, and for the gradients the logarithm of the sum of exponentials of each query's scores: batch x
/// heads x queries x 1. A query without keys has y = 0 and -infinity; so do rows beyond a sequence.
struct attended {
  value y, statistics;
};
/// Returns softmax(scores) * v. Tensors are batch x heads x tokens x width; v may have another width. The heads of q
/// are a multiple of those of k and v: neighbours share one. A key with a score of -infinity is ignored.
attended attention(const value& q, const value& k, const value& v, const attention_options& o = {});

/// The gradients of the inputs of attention; dbias is refused if there was no bias.
struct attention_gradients {
  value dq, dk, dv, dbias;
};
/// Returns the gradients from that of y. `of` is what attention returned for the same inputs and options. Not for
/// pages.
attention_gradients attention_gradient(const value& dy, const attended& of, const value& q, const value& k,
                                       const value& v, const attention_options& o = {});

}  // namespace troupe::dnn
