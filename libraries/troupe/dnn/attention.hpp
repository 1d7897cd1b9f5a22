// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <troupe/dnn/value.hpp>

namespace troupe::dnn {

/// Which keys a query sees, counted from its diagonal: query i's is key i. At the bottom right, the last query's is the
/// last key, and the others lie before it.
struct attention_window {
  std::optional<std::int64_t> left = {}, right = {};  ///< how many keys before and after the diagonal; not given: all
  bool bottom_right = false;
};
/// A query sees the keys up to its diagonal.
inline constexpr attention_window causal{.left = {}, .right = 0}, causal_bottom_right{{}, 0, true};

/// Where the tokens of each sequence lie, in i32 that are read from memory. Not given: all tokens of a row of the
/// batch.
struct attention_sequences {
  /// For each sequence, how many of its tokens there are. Those beyond have no effect, whatever they hold.
  std::optional<value> lengths = {};
  /// Sequences lie after each other in one row: where each begins, and where the last ends, in tokens. They must not
  /// decrease.
  std::optional<value> offsets = {};
};

/// Sets some of a row's weights to 0, and divides the others by 1 - probability. Which is a function of seed, offset,
/// batch, head, query and key: see `attention_dropping`.
struct attention_dropout {
  double probability = 0;
  std::uint64_t seed = 0;
  std::uint32_t offset = 0;
  /// One i32 in memory, added to the offset: another mask for each run of one plan.
  std::optional<value> step = {};
};

/// What changes the scores q * k, in this order, and where the tokens are.
struct attention_options {
  std::optional<double> scale = {};     ///< a factor; not given: 1 / sqrt(width)
  std::optional<double> soft_cap = {};  ///< score = cap * tanh(score / cap)
  std::optional<value> bias = {};       ///< is added: batch x heads x queries x keys, or 1 in the place of an extent
  /// Adds -slope * distance from the diagonal. The slopes of n heads are 2^(-8/n), 2^(-16/n) ... If n is no power of 2,
  /// those of the next lower power p come first, then every other one of 2 p, from the first.
  bool alibi = false;
  attention_window window = {};
  attention_sequences queries = {}, keys = {};
  /// k and v are pools, pages x heads x tokens of a page x width: i32, batch x pages of a sequence, which page of the
  /// pool each is. A page that the pool does not have is not seen.
  std::optional<value> pages = {};
  std::optional<attention_dropout> dropout = {};
};

/// Weighted means of v, and what the gradients want: the logarithm of the sum of exponentials of each query's scores,
/// batch x heads x queries x 1. A query that sees no key has y = 0 and -infinity; so do rows beyond a sequence.
struct attended {
  value y, statistics;
};
/// softmax(scores) * v. Tensors are batch x heads x tokens x width; v may have another width. The heads of q are a
/// multiple of those of k and v: neighbours share one. A score of -infinity counts as not seen.
attended attention(const value& q, const value& k, const value& v, const attention_options& o = {});

/// The gradients of what attention was given; dbias is refused where there was none.
struct attention_gradients {
  value dq, dk, dv, dbias;
};
/// `of` is what was computed from the others, with the same options. Not for pages.
attention_gradients attention_gradient(const value& dy, const attended& of, const value& q, const value& k,
                                       const value& v, const attention_options& o = {});

}  // namespace troupe::dnn
