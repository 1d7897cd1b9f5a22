// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "attention_tiles.cuh"

/// Attention of tiles of queries. Each block processes the keys of its queries square by square: a square is the scores
/// of as many keys as a tile has rows. It updates a running softmax. If keys are divided into parts, combine_attention
/// combines the results of the parts.
namespace troupe::dnn::on_gpu {

/// Writes an element of y.
template <class N>
__device__ void write_y(const attention_arguments& a, i64 at, N y) {
  if (a.type_of_y == dtype::f16)
    static_cast<__half*>(a.to)[at] = static_cast<__half>(y);
  else if (a.type_of_y == dtype::bf16)
    static_cast<__nv_bfloat16*>(a.to)[at] = static_cast<__nv_bfloat16>(y);
  else
    static_cast<N*>(a.to)[at] = y;
}
/// Writes an element of a row of y. If there are several parts, writes the unscaled sum of this part to the workspace.
template <class N>
__device__ void write_result(const attention_arguments& a, i64 part, i64 row, i64 column, N value, N sum) {
  if (a.parts == 1)
    write_y<N>(a, row * a.g.value_width + column, sum == 0 ? N(0) : value / sum);
  else
    static_cast<N*>(
        a.workspace)[(part * kernel_arguments::rows_of(a.g) + row) * kernel_arguments::row_workspace_of(a.g) + column] =
        value;
}
template <class N>
__device__ void write_statistics(const attention_arguments& a, i64 part, i64 row, N largest, N sum) {
  if (a.parts == 1) {
    static_cast<N*>(a.second)[row] = sum == 0 ? masked_score<N>() : largest + std::log(sum);
    return;
  }
  N* const to = static_cast<N*>(a.workspace) +
                (part * kernel_arguments::rows_of(a.g) + row) * kernel_arguments::row_workspace_of(a.g) +
                a.g.value_width;
  to[0] = largest, to[1] = sum;
}
/// Writes the results of tokens that belong to no sequence: y is 0, and the statistics are -infinity.
template <class N>
__device__ void write_nothing(const attention_arguments& a, const query_tile& t, i64 row_of_batch, i64 token, i64 part,
                              i64 first_column, i64 columns) {
  const token_range whole{row_of_batch, 0, a.g.queries};
  const i64 count = columns < a.g.value_width - first_column ? columns : a.g.value_width - first_column;
  for (i64 n = threadIdx.x; n < t.rows() * count; n += blockDim.x) {
    const i64 r = n / count, row = a.g.query_row(whole, t.head(r), token + r / t.heads);
    write_result<N>(a, part, row, first_column + n % count, N(0), N(0));
    if (first_column == 0 && n % count == 0) write_statistics<N>(a, part, row, masked_score<N>(), N(0));
  }
}

/// Replaces a square's scores by weights, and sets for each row the factor by which its earlier sums must be
/// multiplied. `Threads` threads share a row; each has `Part` of its scores.
template <class N, int Threads, int Part, class Weight>
__device__ void weigh(N* scores, N* largest, N* sums, N* factors, N* of_threads, const Weight& weight) {
  const int r = static_cast<int>(threadIdx.x) / Threads, q = static_cast<int>(threadIdx.x) % Threads;
  N most = masked_score<N>();
  for (int i = 0; i < Part; ++i) most = scores[i] > most ? scores[i] : most;
  of_threads[threadIdx.x] = most;
  __syncthreads();
  const N before = largest[r];
  N now = before;
  for (int k = 0; k < Threads; ++k) now = of_threads[r * Threads + k] > now ? of_threads[r * Threads + k] : now;
  N sum = 0;
  for (int i = 0; i < Part; ++i) {
    const N e = weight_of(scores[i], now == masked_score<N>() ? N(0) : now);
    sum += e;
    scores[i] = weight(r, q * Part + i, e);
  }
  __syncthreads();
  of_threads[threadIdx.x] = sum;
  if (q == 0) largest[r] = now, factors[r] = before == masked_score<N>() ? N(1) : std::exp(before - now);
  __syncthreads();
  if (q != 0) return;
  sum = 0;
  for (int k = 0; k < Threads; ++k) sum += of_threads[r * Threads + k];
  sums[r] = sums[r] * factors[r] + sum;
}

template <class N>
__device__ void attend_tile(const attention_arguments& a, const query_tile& t, i64 part, i64 first_column,
                            square_memory<N>& m) {
  constexpr int columns = square<N> / threads_of_row<N>;
  result_columns<N> y;
  y.clear();
  set_rows<N>(a, t, m, false);
  const key_range keys = part_of(visible_keys_of(a.g, t), part, a.parts, square<N>);
  const N factor = static_cast<N>(1 / (1 - a.g.dropout));
  for (i64 first = keys.first; first < keys.last; first += square<N>) {
    set_keys<N>(a, t.keys, t.key_head, first, keys.last, m);
    N scores[micro<N>][micro<N>], gradients[micro<N>][micro<N>];
    find_scores<N>(a, t, first, m, scores, gradients);
    for (int i = 0; i < micro<N>; ++i)
      for (int j = 0; j < micro<N>; ++j) m.scores[square_row() * micro<N> + i][square_column() + 16 * j] = scores[i][j];
    const bool drops = a.g.dropout != 0;
    if (drops) find_retained<N>(a, t, first, m);
    __syncthreads();
    const int r = static_cast<int>(threadIdx.x) / threads_of_row<N>,
              q = static_cast<int>(threadIdx.x) % threads_of_row<N>;
    weigh<N, threads_of_row<N>, columns>(m.scores[r] + q * columns, m.largest, m.sums, m.factors, m.of_threads,
                                         [&](int row, int column, N e) {
                                           if (!drops) return e;
                                           return is_retained(m, row, column) ? factor * e : N(0);
                                         });
    for (int i = 0; i < micro<N>; ++i)
      for (int c = 0; c < columns_of_thread; ++c) y.of[i][c] *= m.factors[square_row() * micro<N> + i];
    y.add(m, false, a.v, m.key_rows, a.g.value_width, first_column);
  }
  __syncthreads();
  y.for_each(a.g.value_width, first_column, [&](int r, i64 column, N value) {
    if (r < t.rows()) write_result<N>(a, part, m.query_rows[r], column, value, m.sums[r]);
  });
  if (first_column == 0 && static_cast<i64>(threadIdx.x) < t.rows())
    write_statistics<N>(a, part, m.query_rows[threadIdx.x], m.largest[threadIdx.x], m.sums[threadIdx.x]);
  __syncthreads();
}

/// Calls `f(tile, part of the keys, first column)` for all tiles of `rows` rows, all parts, and all ranges of `columns`
/// columns of v.
template <class N, class F>
__device__ void attend_all(const attention_arguments& a, int rows, int columns, F&& f) {
  const kernel_arguments::query_grid grid(a.g, rows);
  const i64 slices = kernel_arguments::divided_up(a.g.value_width, columns);
  for (i64 n = blockIdx.x; n < grid.count() * a.parts * slices; n += gridDim.x) {
    const i64 part = n % a.parts, first_column = n / a.parts % slices * columns;
    for_each_tile(a.g, grid, n / a.parts / slices, [&](const query_tile& t, i64 row, i64 token) {
      if (t.sequence < 0)
        write_nothing<N>(a, t, row, token, part, first_column, columns);
      else
        f(t, part, first_column);
    });
  }
}

template <class N>
__device__ void attend(const attention_arguments& a) {
  __shared__ square_memory<N> m;
  attend_all<N>(a, square<N>, kernel_arguments::square_columns,
                [&](const query_tile& t, i64 part, i64 first_column) { attend_tile<N>(a, t, part, first_column, m); });
}

/// Shared memory of a block that computes a small tile. It processes as many keys at a time as it has threads.
template <class N>
struct small_tile_memory {
  static constexpr int rows = kernel_arguments::small_tile_rows,
                       keys = static_cast<int>(kernel_arguments::small_tile_threads),
                       depth = 128 / static_cast<int>(sizeof(N));
  N scores[rows][keys + 1];
  N stage[keys * (depth + 1)], q[rows][depth];
  i64 query_rows[rows], key_rows[keys], first_key[rows], last_key[rows], diagonals[rows];
  N slopes[rows], largest[rows], sums[rows], factors[rows], of_threads[keys];
};

/// Computes the scores of a small tile: each thread computes those of one key. All threads load the keys together.
template <class N>
__device__ void score_small_tile(const attention_arguments& a, const query_tile& t, i64 first,
                                 small_tile_memory<N>& m) {
  using memory = small_tile_memory<N>;
  const int thread = static_cast<int>(threadIdx.x);
  const N *const q = static_cast<const N*>(a.q), *const k = static_cast<const N*>(a.k);
  N products[memory::rows] = {};
  for (i64 begin = 0; begin < a.g.width; begin += memory::depth) {
    for (int n = thread; n < memory::keys * memory::depth; n += memory::keys) {
      const int j = n / memory::depth, d = n % memory::depth;
      m.stage[j * (memory::depth + 1) + d] =
          begin + d < a.g.width && m.key_rows[j] >= 0 ? k[m.key_rows[j] * a.g.width + begin + d] : N(0);
    }
    for (int n = thread; n < memory::rows * memory::depth; n += memory::keys) {
      const int r = n / memory::depth, d = n % memory::depth;
      m.q[r][d] = begin + d < a.g.width && r < t.rows() ? q[m.query_rows[r] * a.g.width + begin + d] : N(0);
    }
    __syncthreads();
    for (int d = 0; d < memory::depth; ++d) {
      const N x = m.stage[thread * (memory::depth + 1) + d];
      for (int r = 0; r < memory::rows; ++r) products[r] = multiply_add(m.q[r][d], x, products[r]);
    }
    __syncthreads();
  }
  const i64 key = first + thread;
  for (int r = 0; r < memory::rows; ++r) {
    N gradient;
    const bool is_visible = r < t.rows() && m.key_rows[thread] >= 0 && key >= m.first_key[r] && key < m.last_key[r];
    m.scores[r][thread] = is_visible ? score_of<N>(a, t.sequence, t.head(r), t.query(r), key, products[r], m.slopes[r],
                                                   m.diagonals[r], gradient)
                                     : masked_score<N>();
  }
}

template <class N>
__device__ void attend_small_tile(const attention_arguments& a, const query_tile& t, i64 part, i64 first_column,
                                  small_tile_memory<N>& m) {
  using memory = small_tile_memory<N>;
  constexpr int all = memory::keys, per_row = all / memory::rows, columns_of_part = all / per_row;
  const int thread = static_cast<int>(threadIdx.x);
  if (thread < memory::rows) {
    m.largest[thread] = masked_score<N>(), m.sums[thread] = 0;
    if (thread < t.rows()) {
      const i64 i = t.query(thread);
      const key_range visible = a.g.visible_keys(i, t.queries.count, t.keys.count);
      m.query_rows[thread] = a.g.query_row(t.queries, t.head(thread), i);
      m.first_key[thread] = visible.first, m.last_key[thread] = visible.last;
      m.diagonals[thread] = a.g.diagonal(i, t.queries.count, t.keys.count);
      m.slopes[thread] = a.g.has_alibi != 0 ? static_cast<N>(a.g.alibi_slope(t.head(thread))) : N(0);
    }
  }
  // Each thread computes a column of y, and if y has more columns than the block has threads, a second one. If y has
  // few columns, `groups` groups of threads compute the same columns, each from other keys.
  const i64 columns = a.g.value_width - first_column;
  int group = all;
  while (group / 2 >= columns) group /= 2;
  const int mine = thread % group, groups = all / group, keys_from = thread / group;
  const bool has_first = mine < columns, has_second = mine + all < columns;
  N y[memory::rows][2] = {};
  const N* const v = static_cast<const N*>(a.v);
  const N factor = static_cast<N>(1 / (1 - a.g.dropout));
  const attention_dropping dropping = a.g.dropping();
  const key_range keys = part_of(visible_keys_of(a.g, t), part, a.parts, all);
  for (i64 first = keys.first; first < keys.last; first += all) {
    m.key_rows[thread] = first + thread < keys.last ? a.g.key_row(t.keys, t.key_head, first + thread) : -1;
    __syncthreads();
    score_small_tile<N>(a, t, first, m);
    __syncthreads();
    weigh<N, per_row, columns_of_part>(
        m.scores[thread / per_row] + thread % per_row * columns_of_part, m.largest, m.sums, m.factors, m.of_threads,
        [&](int row, int column, N e) {
          if (a.g.dropout == 0 || row >= t.rows()) return e;
          return dropping.keeps(t.sequence * a.g.heads + t.head(row), t.query(row), first + column) ? factor * e : N(0);
        });
    for (int r = 0; r < memory::rows; ++r) y[r][0] *= m.factors[r], y[r][1] *= m.factors[r];
    const int count = static_cast<int>(keys.last - first < all ? keys.last - first : all);
    for (int j = keys_from; j < count; j += groups) {
      const i64 row = m.key_rows[j];
      if (row < 0 || !has_first) continue;
      const N* const from = v + row * a.g.value_width + first_column + mine;
      const N x = from[0], second = has_second ? from[all] : N(0);
      for (int r = 0; r < memory::rows; ++r) {
        y[r][0] = multiply_add(m.scores[r][j], x, y[r][0]);
        y[r][1] = multiply_add(m.scores[r][j], second, y[r][1]);
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < memory::rows; ++r) m.stage[r * all + thread] = y[r][0];
  __syncthreads();
  for (int r = 0; r < memory::rows && r < t.rows() && keys_from == 0; ++r) {
    N sum = 0;
    for (int k = 0; k < groups; ++k) sum += m.stage[r * all + k * group + mine];
    if (has_first) write_result<N>(a, part, m.query_rows[r], first_column + mine, sum, m.sums[r]);
    if (has_second) write_result<N>(a, part, m.query_rows[r], first_column + mine + all, y[r][1], m.sums[r]);
  }
  if (first_column == 0 && thread < t.rows())
    write_statistics<N>(a, part, m.query_rows[thread], m.largest[thread], m.sums[thread]);
  __syncthreads();
}

template <class N>
__device__ void attend_small_tiles(const attention_arguments& a) {
  __shared__ small_tile_memory<N> m;
  attend_all<N>(
      a, kernel_arguments::small_tile_rows, kernel_arguments::small_tile_columns,
      [&](const query_tile& t, i64 part, i64 first_column) { attend_small_tile<N>(a, t, part, first_column, m); });
}

/// Combines the results of the parts of the keys, in order.
template <class N>
__device__ void combine_attention(const attention_arguments& a) {
  const i64 rows = kernel_arguments::rows_of(a.g), width = a.g.value_width,
            each = kernel_arguments::row_workspace_of(a.g);
  for (i64 n = first_of_thread(); n < rows * width; n += all_threads()) {
    const N* const of_row = static_cast<const N*>(a.workspace) + n / width * each;
    N largest = masked_score<N>(), sum = 0, y = 0;
    for (i64 p = 0; p < a.parts; ++p) {
      const N here = of_row[p * rows * each + width];
      largest = here > largest ? here : largest;
    }
    for (i64 p = 0; p < a.parts; ++p) {
      const N* const of_part = of_row + p * rows * each;
      const N factor = of_part[width] == largest ? N(1) : std::exp(of_part[width] - largest);
      sum += factor * of_part[width + 1], y += factor * of_part[n % width];
    }
    write_y<N>(a, n, sum == 0 ? N(0) : y / sum);
    if (n % width == 0) static_cast<N*>(a.second)[n / width] = sum == 0 ? masked_score<N>() : largest + std::log(sum);
  }
}

KERNELS(attend, attention_arguments, attend)
KERNELS(attend_small_tiles, attention_arguments, attend_small_tiles)
KERNELS(combine_attention, attention_arguments, combine_attention)

}  // namespace troupe::dnn::on_gpu
