// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <limits>
#include <memory>
#include <troupe/dnn/host/execution_context.hpp>
#include <troupe/dnn/host/operations/attention_rows.hpp>
#include <troupe/dnn/host/row_products.hpp>
#include <troupe/dnn/steps/attention_steps.hpp>
#include <vector>

/// Attention in square tiles of scores, whose rows are queries and whose columns are keys.
namespace troupe::dnn::host {

/// The most rows and the most columns of a tile, and the largest extent of the products that BLAS computes for it.
inline constexpr std::int64_t most_rows = 64;

/// Consecutive queries of a sequence, for adjacent heads that share keys. A row is one head of one query. The heads of
/// a query are adjacent rows.
struct query_tile {
  std::int64_t sequence, key_head, first_head, heads, first, count;
  token_range queries, keys;

  std::int64_t rows() const noexcept { return heads * count; }
  std::int64_t head(std::int64_t row) const noexcept { return first_head + row % heads; }
  std::int64_t query(std::int64_t row) const noexcept { return first + row / heads; }
};
/// Consecutive keys of a sequence, for one head of keys: rows of k and v.
template <class N>
struct key_tile {
  std::int64_t first, count;
  const N *k, *v;
  std::uint64_t missing = 0;  ///< bit i is set if the page of key i is not in the pool
};

template <class N>
using scratch_array = std::unique_ptr<N[]>;
template <class N>
scratch_array<N> make_scratch(std::int64_t rows, std::int64_t width) {
  return scratch_array<N>(new N[static_cast<std::size_t>(rows * width)]);
}

/// Computes c = a * b, or c += a * b if `adds`, for row-major matrices. a and b are dense. The transpose of a is stored
/// if `transpose_a`, that of b if `transpose_b`.
template <class N>
void multiply_tile(bool transpose_a, const N* a, std::int64_t m, std::int64_t k, bool transpose_b, const N* b,
                   std::int64_t n, N* c, std::int64_t ldc, bool adds) {
  const std::int64_t lda = transpose_a ? m : k, ldb = transpose_b ? k : n;
  for (std::int64_t l = 0; l < k; l += most_rows)
    for (std::int64_t j = 0; j < n; j += most_rows)
      multiply_rows<N>(m, std::min(most_rows, n - j), std::min(most_rows, k - l),
                       {transpose_a ? a + l * lda : a + l, lda, transpose_a},
                       {transpose_b ? b + j * ldb + l : b + l * ldb + j, ldb, transpose_b}, adds || l > 0 ? N(1) : N(0),
                       c + j, ldc);
}

template <class N>
class attention_tiles {
 public:
  attention_tiles(const execution_context& on, const operator_step& s);

  /// Returns the query tiles of all sequences that have keys.
  std::vector<query_tile> queries() const;
  /// Returns the range from the first to the last key that any row of a tile attends to.
  key_range visible_keys(const query_tile& t) const noexcept;

  /// Copies the rows of a tile from `from`, a tensor with a row for each head of each query, and multiplies them by
  /// `factor`.
  void gather(const query_tile& t, const N* from, std::int64_t width, N factor, N* to) const;
  N* row_of(const query_tile& t, std::int64_t row, N* of, std::int64_t width) const noexcept {
    return of + g.query_row(t.queries, t.head(row), t.query(row)) * width;
  }
  /// Returns the `count` keys from `first` on, where `count` is at most most_rows. If keys are in pages, copies them to
  /// `copied`, which must have space for most_rows rows of k and of v.
  key_tile<N> keys(const token_range& of, std::int64_t key_head, std::int64_t first, std::int64_t count,
                   N* copied) const;
  /// Computes the scores of a tile, in rows of `keys.count` scores. With a soft cap, computes the derivatives of its
  /// function, too.
  void score(const query_tile& t, const N* rows, const key_tile<N>& keys, N* scores, N* derivatives) const;
  /// Computes the factor by which dropout multiplies each weight of a tile.
  void find_dropout_factors(const query_tile& t, const key_tile<N>& keys, N* factors) const;

  const attention_geometry g;
  const N *const q, *const k, *const v, *const bias;

 private:
  const attention_dropping dropping_;
  std::vector<N> alibi_slopes_;  // of each head
};

}  // namespace troupe::dnn::host
