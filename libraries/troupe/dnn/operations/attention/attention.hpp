// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <troupe/dnn/graph/value.hpp>
#include <troupe/dnn/requests/computation.hpp>

namespace troupe::dnn {

/// The keys that a query attends to, given relative to the query's diagonal. The diagonal of query i is key i; with
/// `bottom_right` it is key i + keys - queries, so that the diagonal of the last query is the last key.
struct attention_window {
  std::optional<std::int64_t> left = {}, right = {};  ///< keys before and after the diagonal; all if not given
  bool bottom_right = false;
};
/// Windows in which a query attends to its diagonal and all keys before it.
inline constexpr attention_window causal{.left = {}, .right = 0}, causal_bottom_right{{}, 0, true};

/// The positions of each sequence's tokens, as i32 in memory. Give `lengths`, `offsets` or neither. If neither is
/// given, a sequence is all tokens of a row of the batch.
struct attention_sequences {
  /// The number of tokens of each sequence. Later tokens of the row have no effect, whatever they hold.
  std::optional<value> lengths = {};
  /// The index of the first token of each sequence, and at the end the number of tokens: sequences are packed one after
  /// another in one row. Offsets must not decrease.
  std::optional<value> offsets = {};
};

/// Sets each attention weight to 0 with the probability, and divides the others by 1 - probability. Which weights
/// become 0 depends only on the probability, the seed, the offset with the step, and the numbers of batch, head, query
/// and key: see `attention_dropping`.
struct attention_dropout {
  double probability = 0;
  std::uint64_t seed = 0;
  std::uint32_t offset = 0;
  /// One i32 in memory that is added to the offset, so that runs of the same plan can drop different weights.
  std::optional<value> step = {};
};

/// Options of an attention: changes to the scores q * k, which are applied in this order, and the positions of the
/// tokens.
struct attention_options {
  std::optional<double> scale = {};     ///< factor of the scores; 1 / sqrt(width) if not given
  std::optional<double> soft_cap = {};  ///< changes a score to cap * tanh(score / cap)
  std::optional<value> bias = {};       ///< added to the score: batch x heads x queries x keys; each extent may be 1
  /// Adds -slope * distance of the key from the diagonal. The slopes of n heads are 2^(-8/n), 2^(-16/n) and so on. If n
  /// is not a power of 2, and p is the next lower one, the slopes of p heads come first, then every other slope of 2 p
  /// heads.
  bool alibi = false;
  attention_window window = {};
  attention_sequences queries = {}, keys = {};
  /// The pages of each sequence, as i32: batch x pages of a sequence. If given, k and v are pools: pages x heads x
  /// tokens of a page x width. Queries do not attend to pages that are not in the pool.
  std::optional<value> pages = {};
  std::optional<attention_dropout> dropout = {};
};

/// Results of an attention. y: means of v, weighted by softmax. statistics, which the gradient needs: the logarithm of
/// the sum of the exponentials of each query's scores, as batch x heads x queries x 1. For a query that attends to no
/// key, and for tokens after the end of their sequence, y is 0 and the statistics are -infinity.
struct attended {
  value y, statistics;
};
/// Returns softmax(scores) * v. Tensors are batch x heads x tokens x width; the width of v may differ. The number of
/// heads of q must be a multiple of that of k and v: neighboring heads of q share a head of k and v. A key with a score
/// of -infinity is ignored.
attended attention(const value& q, const value& k, const value& v, const attention_options& o = {});

/// The gradients of the inputs of an attention. dbias is refused if there was no bias.
struct attention_gradients {
  value dq, dk, dv, dbias;
};
/// Returns the gradients of the inputs, computed from dy, the gradient of y. `of` must be the result of attention for
/// the same inputs and options. Attention with pages is refused.
attention_gradients attention_gradient(const value& dy, const attended& of, const value& q, const value& k,
                                       const value& v, const attention_options& o = {});

/// y = softmax(scores) * v. Tensors are batch x heads x tokens x width.
struct attention_forward {
  in_any q, k, v;
  out_any y;
  std::optional<out_any> statistics = {};  ///< batch x heads x queries; the gradient reads them
  std::optional<double> scale = {}, soft_cap = {};
  std::optional<in_any> bias = {};  ///< batch x heads x queries x keys; each extent may be 1
  bool alibi = false;
  attention_window window = {};
  std::optional<in_any> query_lengths = {}, key_lengths = {};  ///< for sequences that are rows of the batch
  std::optional<in_any> query_offsets = {}, key_offsets = {};  ///< for sequences that are packed in one row
  std::optional<in_any> pages = {};                            ///< pages of each sequence in the pools k and v
  double dropout = 0;                                          ///< the probability that an attention weight becomes 0
  std::uint64_t seed = 0;
  std::uint32_t offset = 0;
  std::optional<in_any> step = {};  ///< added to the offset
  computation_options options = {};
  TROUPE_REQUEST("dnn.attention_forward", q, k, v, y, statistics, scale, soft_cap, bias, alibi, window, query_lengths,
                 key_lengths, query_offsets, key_offsets, pages, dropout, seed, offset, step, options)
  computation to_request() const;
};
/// The gradients of q, k, v and bias, computed from dy, the gradient of y. y and statistics must be what the forward
/// request wrote, and the options must be those of the forward request.
struct attention_backward {
  in_any dy, q, k, v, y, statistics;
  out_any dq, dk, dv;
  std::optional<double> scale = {}, soft_cap = {};
  std::optional<in_any> bias = {};
  std::optional<out_any> dbias = {};  ///< only with a bias
  bool alibi = false;
  attention_window window = {};
  std::optional<in_any> query_lengths = {}, key_lengths = {}, query_offsets = {}, key_offsets = {};
  double dropout = 0;
  std::uint64_t seed = 0;
  std::uint32_t offset = 0;
  std::optional<in_any> step = {};
  computation_options options = {};
  TROUPE_REQUEST("dnn.attention_backward", dy, q, k, v, y, statistics, dq, dk, dv, scale, soft_cap, bias, dbias, alibi,
                 window, query_lengths, key_lengths, query_offsets, key_offsets, dropout, seed, offset, step, options)
  computation to_request() const;
};

}  // namespace troupe::dnn
