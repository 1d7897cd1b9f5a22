// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/operations/attention/dropping.hpp>

/// The positions of an attention's tokens, and the keys that each query attends to, for host and device code. Lengths,
/// offsets and pages that are read from memory may have any values: they are clamped or checked, so that all computed
/// addresses are inside the tensors.
namespace troupe::dnn {

/// A strided view of i32 in memory.
struct integer_view {
  const std::int32_t* memory = nullptr;
  std::int64_t stride = 0, second_stride = 0;
  TROUPE_HOST_DEVICE std::int64_t at(std::int64_t i, std::int64_t second = 0) const noexcept {
    return memory[i * stride + second * second_stride];
  }
};

/// Consecutive tokens of one row of the batch.
struct token_range {
  std::int64_t row, first, count;
};
/// Keys [first, last).
struct key_range {
  std::int64_t first, last;
};

/// The extents and options of an attention step, and views of the integers in memory that it reads.
struct attention_geometry {
  double scale, soft_cap, dropout;
  std::int64_t left, right, bottom_right, has_alibi, has_bias;
  sequence_layout query_layout, key_layout;
  std::int64_t batch;             ///< number of sequences
  std::int64_t heads, key_heads;  ///< heads of q, and of k and v
  std::int64_t shared;            ///< heads of q that share a head of k
  std::int64_t queries, keys;     ///< tokens of a row of q and of k; with pages, `keys` counts all pages of a sequence
  std::int64_t width, value_width;
  std::int64_t page_tokens, pool;  ///< tokens of a page, pages of the pool; both 0 without pages
  integer_view query_numbers, key_numbers, pages, step;
  std::uint64_t seed, offset;
  std::int64_t bias_extents[4], bias_strides[4];  ///< strides are 0 where the bias is broadcast

  TROUPE_HOST_DEVICE static std::int64_t clamped(std::int64_t n, std::int64_t low, std::int64_t high) noexcept {
    return n < low ? low : n > high ? high : n;
  }
  TROUPE_HOST_DEVICE static token_range tokens_of(sequence_layout layout, const integer_view& numbers, std::int64_t b,
                                                  std::int64_t all) noexcept {
    if (layout == sequence_layout::whole) return {b, 0, all};
    if (layout == sequence_layout::lengths) return {b, 0, clamped(numbers.at(b), 0, all)};
    const std::int64_t first = clamped(numbers.at(b), 0, all);
    return {0, first, clamped(numbers.at(b + 1), first, all) - first};
  }
  TROUPE_HOST_DEVICE token_range queries_of(std::int64_t b) const noexcept {
    return tokens_of(query_layout, query_numbers, b, queries);
  }
  TROUPE_HOST_DEVICE token_range keys_of(std::int64_t b) const noexcept {
    return tokens_of(key_layout, key_numbers, b, keys);
  }

  /// Return the index of a query's row in q, and of a key's row in k. The latter is -1 if the key's page is not in the
  /// pool.
  TROUPE_HOST_DEVICE std::int64_t query_row(const token_range& t, std::int64_t head, std::int64_t i) const noexcept {
    return (t.row * heads + head) * queries + t.first + i;
  }
  TROUPE_HOST_DEVICE std::int64_t key_row(const token_range& t, std::int64_t head, std::int64_t j) const noexcept {
    if (pool == 0) return (t.row * key_heads + head) * keys + t.first + j;
    const std::int64_t page = pages.at(t.row, j / page_tokens);
    return page < 0 || page >= pool ? -1 : (page * key_heads + head) * page_tokens + j % page_tokens;
  }

  TROUPE_HOST_DEVICE std::int64_t diagonal(std::int64_t i, std::int64_t of_queries,
                                           std::int64_t of_keys) const noexcept {
    return bottom_right != 0 ? i + of_keys - of_queries : i;
  }
  /// Returns the keys that query i of a sequence attends to. The sequence has `of_queries` queries and `of_keys` keys.
  TROUPE_HOST_DEVICE key_range visible_keys(std::int64_t i, std::int64_t of_queries,
                                            std::int64_t of_keys) const noexcept {
    const std::int64_t d = diagonal(i, of_queries, of_keys);
    const std::int64_t first = clamped(d - left, 0, of_keys);
    return {first, clamped(d + right + 1, first, of_keys)};
  }
  TROUPE_HOST_DEVICE std::int64_t bias_at(std::int64_t b, std::int64_t h, std::int64_t i,
                                          std::int64_t j) const noexcept {
    return b * bias_strides[0] + h * bias_strides[1] + i * bias_strides[2] + j * bias_strides[3];
  }
  TROUPE_HOST_DEVICE double alibi_slope(std::int64_t head) const noexcept {
    std::int64_t power = 1;
    while (2 * power <= heads) power *= 2;
    const std::int64_t eighths = head < power ? 16 * (head + 1) : 8 * (2 * (head - power) + 1);
    return std::exp2(-static_cast<double>(eighths) / static_cast<double>(2 * power));
  }
  /// Returns the attention's dropout for this run: its offset includes the step that is read from memory, if any.
  TROUPE_HOST_DEVICE attention_dropping dropping() const noexcept {
    const std::int64_t more = step.memory != nullptr ? step.at(0) : 0;
    return attention_dropping::of(dropout, seed, offset + static_cast<std::uint64_t>(more));
  }
};

}  // namespace troupe::dnn
