// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <troupe/dnn/operations/attention/attributes.hpp>

#include "attention_arguments.hpp"
#include "elements.cuh"

/// Attention in square tiles of scores, called squares: rows are queries, columns are keys. A block has 16 x 16
/// threads, each of which computes `micro` x `micro` scores.
namespace troupe::dnn::on_gpu {

using kernel_arguments::attention_arguments;
using kernel_arguments::attention_threads;

template <class N>
inline constexpr int square = kernel_arguments::square_rows<N>;
template <class N>
inline constexpr int micro = square<N> / 16;  // rows and columns of a square per thread
template <class N>
inline constexpr int threads_of_row = static_cast<int>(attention_threads) / square<N>;
inline constexpr int depth = 16;  // elements of the summed axis that are loaded at once
inline constexpr int columns_of_thread = kernel_arguments::square_columns / 16;

template <class N>
__device__ constexpr N masked_score() {
  return -std::numeric_limits<N>::infinity();
}
/// Returns exp(score - base), or 0 for a masked score whatever the base.
template <class N>
__device__ N weight_of(N score, N base) {
  return score == masked_score<N>() ? N(0) : std::exp(score - base);
}

/// Consecutive queries of a sequence, for heads that share a key head. `sequence` is -1 for tokens that belong to no
/// sequence.
struct query_tile {
  i64 sequence, key_head, first_head, heads, first, count;
  token_range queries, keys;
  __device__ i64 rows() const { return heads * count; }
  __device__ i64 query(i64 row) const { return first + row / heads; }
  __device__ i64 head(i64 row) const { return first_head + row % heads; }
};

/// Returns the sequence that contains a token of a row of the batch; -1 if none does. Offsets may have any values.
__device__ inline i64 sequence_of(const attention_geometry& g, sequence_layout layout, const integer_view& numbers,
                                  i64 all, i64 row, i64 token) {
  i64 b = row;
  if (layout == sequence_layout::offsets) {
    i64 end = g.batch;
    for (b = 0; end - b > 1;) {
      const i64 middle = (b + end) / 2;
      (numbers.at(middle) <= token ? b : end) = middle;
    }
  }
  const token_range t = attention_geometry::tokens_of(layout, numbers, b, all);
  return token >= t.first && token < t.first + t.count ? b : -1;
}

/// Returns the tile of the tokens from `token` on that are in the same sequence and before `end`.
__device__ inline query_tile tile_at(const attention_geometry& g, i64 row, i64 token, i64 end) {
  query_tile t{};
  t.sequence = sequence_of(g, g.query_layout, g.query_numbers, g.queries, row, token);
  t.count = g.query_layout == sequence_layout::offsets ? 1 : end - token;
  if (t.sequence < 0) return t;
  t.queries = g.queries_of(t.sequence), t.keys = g.keys_of(t.sequence);
  t.first = token - t.queries.first;
  const i64 last = t.queries.first + t.queries.count;
  t.count = (end < last ? end : last) - token;
  return t;
}

/// Calls `f(tile, row of the batch, token)` once for each sequence that has tokens in tile `unit` of the grid.
template <class F>
__device__ void for_each_tile(const attention_geometry& g, const kernel_arguments::query_grid& grid, i64 unit,
                              const F& f) {
  const i64 tile = unit % grid.tiles, chunk = unit / grid.tiles % grid.chunks,
            key_head = unit / grid.tiles / grid.chunks % grid.key_heads,
            row = unit / grid.tiles / grid.chunks / grid.key_heads;
  const i64 end = (tile + 1) * grid.tokens < g.queries ? (tile + 1) * grid.tokens : g.queries;
  for (i64 token = tile * grid.tokens; token < end;) {
    query_tile t = tile_at(g, row, token, end);
    t.key_head = key_head, t.first_head = key_head * g.shared + chunk * grid.heads;
    t.heads = g.shared - chunk * grid.heads < grid.heads ? g.shared - chunk * grid.heads : grid.heads;
    f(t, row, token);
    token += t.count;
  }
}

/// Returns the range from the first to the last key that any query of a tile attends to.
__device__ inline key_range visible_keys_of(const attention_geometry& g, const query_tile& t) {
  return {g.visible_keys(t.first, t.queries.count, t.keys.count).first,
          g.visible_keys(t.first + t.count - 1, t.queries.count, t.keys.count).last};
}
/// Returns part `part` of `parts` parts of the keys `all`. Each part begins at a multiple of `step`, so the first may
/// begin before `all`.
__device__ inline key_range part_of(const key_range& all, i64 part, i64 parts, i64 step) {
  const i64 begin = all.first / step * step;
  const i64 each = kernel_arguments::divided_up(kernel_arguments::divided_up(all.last - begin, parts), step) * step;
  const i64 first = begin + part * each;
  return {first, first + each < all.last ? first + each : all.last};
}

/// Shared memory of a block that computes squares of scores.
template <class N>
struct square_memory {
  N scores[square<N>][square<N> + 1];
  N stage[2 * square<N> * (depth + 1) > depth* kernel_arguments::square_columns
              ? 2 * square<N>*(depth + 1)
              : depth* kernel_arguments::square_columns];
  i64 query_rows[square<N>], key_rows[square<N>];  // rows in q, and in k and v; -1 if there is none
  i64 first_key[square<N>], last_key[square<N>], diagonals[square<N>];
  N slopes[square<N>], statistics[square<N>], means[square<N>];
  N largest[square<N>], sums[square<N>], factors[square<N>];
  N of_threads[attention_threads];
  std::uint32_t retained[attention_threads];  // for each thread, a bit for each score of its part of a row
};

__device__ inline int square_row() { return static_cast<int>(threadIdx.x) / 16; }
__device__ inline int square_column() { return static_cast<int>(threadIdx.x) % 16; }

/// Finds the rows of a tile. For gradients, leaves out queries that attend to no key: their gradients are 0, whatever
/// dy and y hold.
template <class N>
__device__ void set_rows(const attention_arguments& a, const query_tile& t, square_memory<N>& m, bool gradient) {
  const i64 r = threadIdx.x;
  if (r < square<N>) {
    m.query_rows[r] = -1, m.first_key[r] = m.last_key[r] = 0;
    m.largest[r] = masked_score<N>(), m.sums[r] = 0, m.means[r] = 0;
    if (r < t.rows()) {
      const i64 i = t.query(r), row = a.g.query_row(t.queries, t.head(r), i);
      const N statistic = gradient ? static_cast<const N*>(a.statistics)[row] : N(0);
      if (!gradient || statistic != masked_score<N>()) {
        const key_range visible = a.g.visible_keys(i, t.queries.count, t.keys.count);
        m.query_rows[r] = row, m.first_key[r] = visible.first, m.last_key[r] = visible.last;
        m.diagonals[r] = a.g.diagonal(i, t.queries.count, t.keys.count);
        m.slopes[r] = a.g.has_alibi != 0 ? static_cast<N>(a.g.alibi_slope(t.head(r))) : N(0);
        m.statistics[r] = statistic;
      }
    }
  }
  __syncthreads();
}
template <class N>
__device__ void set_keys(const attention_arguments& a, const token_range& of, i64 key_head, i64 first, i64 end,
                         square_memory<N>& m) {
  const i64 j = threadIdx.x;
  if (j < square<N>) m.key_rows[j] = first + j < end ? a.g.key_row(of, key_head, first + j) : -1;
  __syncthreads();
}

/// Computes out = left * transposed right, for the given rows of both.
template <class N>
__device__ void multiply_rows(const void* left, const i64* left_rows, const void* right, const i64* right_rows,
                              i64 width, N* stage, N (&out)[micro<N>][micro<N>]) {
  const N *const a = static_cast<const N*>(left), *const b = static_cast<const N*>(right);
  N *const of_a = stage, *const of_b = stage + square<N> * (depth + 1);
  const int row = square_row() * micro<N>, column = square_column();
  for (int i = 0; i < micro<N>; ++i)
    for (int j = 0; j < micro<N>; ++j) out[i][j] = 0;
  for (i64 begin = 0; begin < width; begin += depth) {
    for (int n = static_cast<int>(threadIdx.x); n < square<N> * depth; n += static_cast<int>(attention_threads)) {
      const int r = n / depth, d = n % depth;
      const bool inside = begin + d < width;
      of_a[r * (depth + 1) + d] = inside && left_rows[r] >= 0 ? a[left_rows[r] * width + begin + d] : N(0);
      of_b[r * (depth + 1) + d] = inside && right_rows[r] >= 0 ? b[right_rows[r] * width + begin + d] : N(0);
    }
    __syncthreads();
    for (int d = 0; d < depth; ++d) {
      N x[micro<N>], y[micro<N>];
      for (int i = 0; i < micro<N>; ++i) x[i] = of_a[(row + i) * (depth + 1) + d];
      for (int j = 0; j < micro<N>; ++j) y[j] = of_b[(column + 16 * j) * (depth + 1) + d];
      for (int i = 0; i < micro<N>; ++i)
        for (int j = 0; j < micro<N>; ++j) out[i][j] = multiply_add(x[i], y[j], out[i][j]);
    }
    __syncthreads();
  }
}

/// A thread's elements of a block's result: `micro` consecutive rows, and columns that are 16 apart.
template <class N>
struct result_columns {
  N of[micro<N>][columns_of_thread];

  __device__ void clear() {
    for (int i = 0; i < micro<N>; ++i)
      for (int c = 0; c < columns_of_thread; ++c) of[i][c] = 0;
  }
  /// Adds scores * right, or transposed scores * right, to the columns from `first` on.
  __device__ void add(square_memory<N>& m, bool is_transposed, const void* right, const i64* right_rows, i64 width,
                      i64 first) {
    width - first > kernel_arguments::square_columns / 2
        ? add_columns<columns_of_thread>(m, is_transposed, right, right_rows, width, first)
        : add_columns<columns_of_thread / 2>(m, is_transposed, right, right_rows, width, first);
  }
  /// Calls `f(row, column, value)` for each column from `first` on.
  template <class F>
  __device__ void for_each(i64 width, i64 first, const F& f) const {
    for (int i = 0; i < micro<N>; ++i)
      for (int c = 0; c < columns_of_thread; ++c)
        if (const i64 column = first + square_column() + 16 * c; column < width)
          f(square_row() * micro<N> + i, column, of[i][c]);
  }

 private:
  template <int Columns>
  __device__ void add_columns(square_memory<N>& m, bool is_transposed, const void* right, const i64* right_rows,
                              i64 width, i64 first) {
    const N* const b = static_cast<const N*>(right);
    const int row = square_row() * micro<N>, column = square_column();
    for (int begin = 0; begin < square<N>; begin += depth) {
      for (int n = static_cast<int>(threadIdx.x); n < depth * 16 * Columns; n += static_cast<int>(attention_threads)) {
        const i64 from = right_rows[begin + n / (16 * Columns)], c = first + n % (16 * Columns);
        m.stage[n] = from >= 0 && c < width ? b[from * width + c] : N(0);
      }
      __syncthreads();
      for (int d = 0; d < depth; ++d) {
        N x[micro<N>], y[Columns];
        for (int i = 0; i < micro<N>; ++i)
          x[i] = is_transposed ? m.scores[begin + d][row + i] : m.scores[row + i][begin + d];
        for (int c = 0; c < Columns; ++c) y[c] = m.stage[d * 16 * Columns + column + 16 * c];
        for (int i = 0; i < micro<N>; ++i)
          for (int c = 0; c < Columns; ++c) of[i][c] = multiply_add(x[i], y[c], of[i][c]);
      }
      __syncthreads();
    }
  }
};

/// Returns the score for a product of q and k. Sets `gradient` to its derivative with respect to the scaled product.
template <class N>
__device__ N score_of(const attention_arguments& a, i64 sequence, i64 head, i64 query, i64 key, N product, N alibi,
                      i64 diagonal, N& gradient) {
  N s = static_cast<N>(a.g.scale) * product;
  gradient = 1;
  if (a.g.soft_cap != 0) {
    const N cap = static_cast<N>(a.g.soft_cap), t = std::tanh(s / cap);
    s = cap * t, gradient = 1 - t * t;
  }
  if (a.bias != nullptr) s += static_cast<const N*>(a.bias)[a.g.bias_at(sequence, head, query, key)];
  if (a.g.has_alibi != 0) s -= alibi * std::fabs(static_cast<N>(key - diagonal));
  return s;
}

/// Computes the scores of a square whose first key is `first`, and their derivatives with respect to the scaled
/// products.
template <class N>
__device__ void find_scores(const attention_arguments& a, const query_tile& t, i64 first, square_memory<N>& m,
                            N (&scores)[micro<N>][micro<N>], N (&gradients)[micro<N>][micro<N>]) {
  multiply_rows<N>(a.q, m.query_rows, a.k, m.key_rows, a.g.width, m.stage, scores);
  for (int i = 0; i < micro<N>; ++i)
    for (int j = 0; j < micro<N>; ++j) {
      const int r = square_row() * micro<N> + i, c = square_column() + 16 * j;
      const i64 key = first + c;
      if (key >= m.first_key[r] && key < m.last_key[r] && m.key_rows[c] >= 0)
        scores[i][j] = score_of<N>(a, t.sequence, t.head(r), t.query(r), key, scores[i][j], m.slopes[r], m.diagonals[r],
                                   gradients[i][j]);
      else
        scores[i][j] = masked_score<N>(), gradients[i][j] = 1;
    }
}

/// Finds the weights of a square that dropout retains; each thread does so for a part of a row. Precondition: `first`
/// is a multiple of 4.
template <class N>
__device__ void find_retained(const attention_arguments& a, const query_tile& t, i64 first, square_memory<N>& m) {
  constexpr int part = square<N> / threads_of_row<N>;
  const int r = static_cast<int>(threadIdx.x) / threads_of_row<N>,
            q = static_cast<int>(threadIdx.x) % threads_of_row<N>;
  const attention_dropping dropping = a.g.dropping();
  std::uint32_t bits = 0;
  for (int i = 0; i < part && r < t.rows(); i += 4) {
    const random_words four = dropping.words(t.sequence * a.g.heads + t.head(r), t.query(r), first + q * part + i);
    for (int k = 0; k < 4; ++k)
      if (four.word[k] >= dropping.threshold) bits |= std::uint32_t{1} << (i + k);
  }
  m.retained[threadIdx.x] = bits;
}
template <class N>
__device__ bool is_retained(const square_memory<N>& m, int row, int column) {
  constexpr int part = square<N> / threads_of_row<N>;
  return (m.retained[row * threads_of_row<N> + column / part] >> (column % part) & 1) != 0;
}

}  // namespace troupe::dnn::on_gpu
