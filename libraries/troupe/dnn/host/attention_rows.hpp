// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/attention_dropping.hpp>

/// Loops over a few scores of one query, and small products. Compiled for several kinds of processor.
namespace troupe::dnn::host {

/// At most this many rows are few.
inline constexpr std::int64_t few_rows = 2;

/// What a query has so far: the largest of its scores, and the sum of exponentials of their distances from it.
struct running_softmax {
  double largest, sum;
};

#define TROUPE_DNN_ATTENTION_ROWS(N)                                                                                   \
  /** Replaces scores by weights, exp(s - largest). Returns the factor that what was weighted before is due. */        \
  N weigh(N* s, std::int64_t n, running_softmax& so_far) noexcept;                                                     \
  /** Replaces scores by exp(s - statistic). */                                                                        \
  void weigh_finally(N* s, std::int64_t n, N statistic) noexcept;                                                      \
  /** s = cap * tanh(s / cap), and the slope of that. */                                                               \
  void cap_scores(N* s, N* slope, std::int64_t n, N cap) noexcept;                                                     \
  /** s += bias, `step` apart. */                                                                                      \
  void add_bias(N* s, const N* bias, std::int64_t step, std::int64_t n) noexcept;                                      \
  /** s -= slope * |first + i| */                                                                                      \
  void add_distance(N* s, N slope, std::int64_t first, std::int64_t n) noexcept;                                       \
  /** to = factor * from */                                                                                            \
  void scale(N* to, const N* from, N factor, std::int64_t n) noexcept;                                                 \
  /** to += factor * from */                                                                                           \
  void add_scaled(N* to, const N* from, N factor, std::int64_t n) noexcept;                                            \
  double dot(const N* a, const N* b, std::int64_t n) noexcept;                                                         \
  /** ds = weights * (kept * dp - mean), into dp. `kept` may be null: 1. */                                            \
  void slopes_of_softmax(N* dp, const N* weights, const N* kept, N mean, std::int64_t n) noexcept;                     \
  /** Scores of a few rows by n keys, s[row * n + key], which is faster than a product if there are few. */            \
  void score_few(const N* rows, std::int64_t count, const N* keys, std::int64_t n, std::int64_t width, N* s) noexcept; \
  /** The factors of weights of a dropout, for keys [first, first + n). */                                             \
  void find_factors(const attention_dropping& d, std::int64_t head, std::int64_t query, std::int64_t first,            \
                    std::int64_t n, N factor, N* to) noexcept;
TROUPE_DNN_ATTENTION_ROWS(float)
TROUPE_DNN_ATTENTION_ROWS(double)
#undef TROUPE_DNN_ATTENTION_ROWS

}  // namespace troupe::dnn::host
