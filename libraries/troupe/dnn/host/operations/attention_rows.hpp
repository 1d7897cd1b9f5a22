// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/operations/attention/dropping.hpp>

/// Loops over the scores of a query and some keys, and small products, compiled for several kinds of processor.
namespace troupe::dnn::host {

/// The most rows for which `score_small_tile` is faster than a general product.
inline constexpr std::int64_t small_tile_rows = 2;

/// The state of an online softmax: the largest score so far, and the sum of exp(score - largest) over the scores so
/// far.
struct running_softmax {
  double largest, sum;
};

#define TROUPE_DNN_ATTENTION_ROWS(N)                                                                                \
  /** Replaces scores by weights, exp(s - largest). Returns the factor by which to scale earlier weighted sums. */  \
  N weigh(N* s, std::int64_t n, running_softmax& so_far) noexcept;                                                  \
  /** Replaces scores by the final weights, exp(s - statistic). */                                                  \
  void weigh_finally(N* s, std::int64_t n, N statistic) noexcept;                                                   \
  /** s = cap * tanh(s / cap), and its derivative. */                                                               \
  void cap_scores(N* s, N* derivative, std::int64_t n, N cap) noexcept;                                             \
  /** s += bias, with a stride. */                                                                                  \
  void add_bias(N* s, const N* bias, std::int64_t stride, std::int64_t n) noexcept;                                 \
  /** s -= slope * |first + i| */                                                                                   \
  void add_alibi(N* s, N slope, std::int64_t first, std::int64_t n) noexcept;                                       \
  /** to = factor * from */                                                                                         \
  void scale(N* to, const N* from, N factor, std::int64_t n) noexcept;                                              \
  /** to += factor * from */                                                                                        \
  void add_scaled(N* to, const N* from, N factor, std::int64_t n) noexcept;                                         \
  double dot(const N* a, const N* b, std::int64_t n) noexcept;                                                      \
  /** dp = weights * (factors * dp - mean). `factors` are the dropout's; null if all are 1. */                      \
  void score_gradients(N* dp, const N* weights, const N* factors, N mean, std::int64_t n) noexcept;                 \
  /** Computes s[row * n + key], the products of at most small_tile_rows rows with n keys. */                       \
  void score_small_tile(const N* rows, std::int64_t count, const N* keys, std::int64_t n, std::int64_t width,       \
                        N* s) noexcept;                                                                             \
  /** Computes the factors by which dropout multiplies the weights of keys [first, first + n). */                   \
  void find_dropout_factors(const attention_dropping& d, std::int64_t head, std::int64_t query, std::int64_t first, \
                            std::int64_t n, N factor, N* to) noexcept;
TROUPE_DNN_ATTENTION_ROWS(float)
TROUPE_DNN_ATTENTION_ROWS(double)
#undef TROUPE_DNN_ATTENTION_ROWS

}  // namespace troupe::dnn::host
