// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "attention_tiles.cuh"

/// The gradients of attention. The scores are computed again: for dq in tiles of queries, for dk and dv in tiles of
/// keys, for dbias in squares of the bias. Thus each sum has a fixed order, and no two blocks add to the same element.
namespace troupe::dnn::on_gpu {

/// Finds the rows of a tile, and for each row the sum of dy * y: the mean gradient of the row's attention weights.
template <class N>
__device__ void set_gradient_rows(const attention_arguments& a, const query_tile& t, square_memory<N>& m) {
  constexpr int threads = threads_of_row<N>;
  set_rows<N>(a, t, m, true);
  const int r = static_cast<int>(threadIdx.x) / threads, q = static_cast<int>(threadIdx.x) % threads;
  const i64 width = a.g.value_width, begin = m.query_rows[r] * width;
  N sum = 0;
  for (i64 c = q; m.query_rows[r] >= 0 && c < width; c += threads)
    sum += static_cast<const N*>(a.dy)[begin + c] * static_cast<const N*>(a.y)[begin + c];
  m.of_threads[threadIdx.x] = sum;
  __syncthreads();
  if (q == 0)
    for (int k = 0; k < threads; ++k) m.means[r] += m.of_threads[r * threads + k];
  __syncthreads();
}

/// A thread's elements of a square: weights after dropout, gradients of the scores, and gradients of the scaled
/// products of q and k (before the soft cap).
template <class N>
struct square_gradients {
  N weights[micro<N>][micro<N>], ds[micro<N>][micro<N>], before_cap[micro<N>][micro<N>];

  __device__ void find(const attention_arguments& a, const query_tile& t, i64 first, square_memory<N>& m) {
    N gradients[micro<N>][micro<N>];
    find_scores<N>(a, t, first, m, weights, gradients);
    multiply_rows<N>(a.dy, m.query_rows, a.v, m.key_rows, a.g.value_width, m.stage, ds);
    const bool drops = a.g.dropout != 0;
    const N factor = static_cast<N>(1 / (1 - a.g.dropout));
    if (drops) find_retained<N>(a, t, first, m);
    __syncthreads();
    for (int i = 0; i < micro<N>; ++i)
      for (int j = 0; j < micro<N>; ++j) {
        const int r = square_row() * micro<N> + i, c = square_column() + 16 * j;
        const N weight = m.query_rows[r] < 0 ? N(0) : weight_of(weights[i][j], m.statistics[r]);
        const N dropout = !drops ? N(1) : is_retained(m, r, c) ? factor : N(0);
        weights[i][j] = weight * dropout;
        ds[i][j] = weight * (dropout * ds[i][j] - m.means[r]);
        before_cap[i][j] = ds[i][j] * gradients[i][j];
      }
  }
  static __device__ void store(const N (&from)[micro<N>][micro<N>], square_memory<N>& m) {
    for (int i = 0; i < micro<N>; ++i)
      for (int j = 0; j < micro<N>; ++j) m.scores[square_row() * micro<N> + i][square_column() + 16 * j] = from[i][j];
    __syncthreads();
  }
};

template <class N>
__device__ void attention_query_gradient(const attention_arguments& a) {
  __shared__ square_memory<N> m;
  constexpr int columns = kernel_arguments::square_columns;
  const kernel_arguments::query_grid grid(a.g, square<N>);
  const i64 width = a.g.width, slices = kernel_arguments::divided_up(width, columns);
  for (i64 n = blockIdx.x; n < grid.count() * slices; n += gridDim.x) {
    const i64 first_column = n % slices * columns;
    for_each_tile(a.g, grid, n / slices, [&](const query_tile& t, i64 row_of_batch, i64 token) {
      result_columns<N> dq;
      dq.clear();
      if (t.sequence >= 0) {
        set_gradient_rows<N>(a, t, m);
        const key_range keys = part_of(visible_keys_of(a.g, t), 0, 1, square<N>);
        for (i64 first = keys.first; first < keys.last; first += square<N>) {
          set_keys<N>(a, t.keys, t.key_head, first, keys.last, m);
          square_gradients<N> s;
          s.find(a, t, first, m);
          s.store(s.before_cap, m);
          dq.add(m, false, a.k, m.key_rows, width, first_column);
        }
      }
      const token_range whole{row_of_batch, 0, a.g.queries};
      dq.for_each(width, first_column, [&](int r, i64 column, N value) {
        if (r < t.rows())
          static_cast<N*>(a.to)[a.g.query_row(whole, t.head(r), token + r / t.heads) * width + column] =
              static_cast<N>(a.g.scale) * value;
      });
      __syncthreads();
    });
  }
}

/// Adds to the gradients of a tile's keys the contributions of all queries of the sequence that attend to them.
template <class N>
__device__ void add_queries(const attention_arguments& a, i64 sequence, i64 key_head, i64 first, i64 first_column,
                            result_columns<N>& dk, result_columns<N>& dv, square_memory<N>& m) {
  const kernel_arguments::query_grid grid(a.g, square<N>);
  query_tile t{};
  t.sequence = sequence, t.key_head = key_head;
  t.queries = a.g.queries_of(sequence), t.keys = a.g.keys_of(sequence);
  for (i64 chunk = 0; chunk < grid.chunks; ++chunk)
    for (t.first = 0; t.first < t.queries.count; t.first += grid.tokens) {
      t.first_head = key_head * a.g.shared + chunk * grid.heads;
      t.heads = a.g.shared - chunk * grid.heads < grid.heads ? a.g.shared - chunk * grid.heads : grid.heads;
      t.count = t.queries.count - t.first < grid.tokens ? t.queries.count - t.first : grid.tokens;
      const key_range visible = visible_keys_of(a.g, t);
      if (visible.last <= first || visible.first >= first + square<N>) continue;
      set_gradient_rows<N>(a, t, m);
      square_gradients<N> s;
      s.find(a, t, first, m);
      s.store(s.weights, m);
      dv.add(m, true, a.dy, m.query_rows, a.g.value_width, first_column);
      s.store(s.before_cap, m);
      dk.add(m, true, a.q, m.query_rows, a.g.width, first_column);
    }
}

template <class N>
__device__ void attention_key_gradient(const attention_arguments& a) {
  __shared__ square_memory<N> m;
  constexpr int columns = kernel_arguments::square_columns;
  const attention_geometry& g = a.g;
  const i64 rows_of_batch = g.key_layout == sequence_layout::offsets ? 1 : g.batch,
            tiles = kernel_arguments::divided_up(g.keys, square<N>),
            widest = g.width > g.value_width ? g.width : g.value_width,
            slices = kernel_arguments::divided_up(widest, columns);
  for (i64 n = blockIdx.x; n < rows_of_batch * g.key_heads * tiles * slices; n += gridDim.x) {
    const i64 first_column = n % slices * columns, tile = n / slices % tiles,
              key_head = n / slices / tiles % g.key_heads, row = n / slices / tiles / g.key_heads;
    const i64 last = (tile + 1) * square<N> < g.keys ? (tile + 1) * square<N> : g.keys;
    for (i64 token = tile * square<N>; token < last;) {
      const i64 sequence = sequence_of(g, g.key_layout, g.key_numbers, g.keys, row, token);
      result_columns<N> dk, dv;
      dk.clear(), dv.clear();
      i64 count = g.key_layout == sequence_layout::offsets ? 1 : last - token;
      if (sequence >= 0) {
        const token_range keys = g.keys_of(sequence);
        const i64 end = keys.first + keys.count < last ? keys.first + keys.count : last;
        // Tiles of a sequence's keys begin at multiples of 4, because four neighboring keys share a counter of
        // dropout's random numbers.
        const i64 position = token - keys.first, skipped = position % 4;
        count = end - token < square<N> - skipped ? end - token : square<N> - skipped;
        set_keys<N>(a, keys, key_head, position - skipped, position + count, m);
        add_queries<N>(a, sequence, key_head, position - skipped, first_column, dk, dv, m);
        const auto write = [&](void* to, const result_columns<N>& from, i64 width, N factor) {
          from.for_each(width, first_column, [&](int r, i64 column, N value) {
            if (r >= skipped && r < skipped + count)
              static_cast<N*>(to)[m.key_rows[r] * width + column] = factor * value;
          });
        };
        write(a.to, dk, g.width, static_cast<N>(g.scale));
        write(a.second, dv, g.value_width, N(1));
      } else {
        const token_range whole{row, 0, g.keys};
        for (i64 i = 0; i < count; ++i)
          for (i64 c = first_column + threadIdx.x; c < first_column + columns; c += blockDim.x) {
            const i64 to = g.key_row(whole, key_head, token + i);
            if (c < g.width) static_cast<N*>(a.to)[to * g.width + c] = 0;
            if (c < g.value_width) static_cast<N*>(a.second)[to * g.value_width + c] = 0;
          }
      }
      token += count;
      __syncthreads();
    }
  }
}

/// Adds the gradients of the scores of one sequence and head to a square of the bias's gradient.
template <class N>
__device__ void add_squares(const attention_arguments& a, i64 b, i64 h, i64 first_query, i64 first_key,
                            square_memory<N>& m, N (&sums)[micro<N>][micro<N>]) {
  query_tile t{};
  t.sequence = b, t.key_head = h / a.g.shared, t.first_head = h, t.heads = 1, t.first = first_query;
  t.queries = a.g.queries_of(b), t.keys = a.g.keys_of(b);
  const i64 left = t.queries.count - first_query;
  t.count = left < square<N> ? left : square<N>;
  if (t.count <= 0 || first_key >= t.keys.count) return;
  const key_range visible = visible_keys_of(a.g, t);
  if (visible.last <= first_key || visible.first >= first_key + square<N>) return;
  set_gradient_rows<N>(a, t, m);
  set_keys<N>(a, t.keys, t.key_head, first_key, t.keys.count, m);
  square_gradients<N> s;
  s.find(a, t, first_key, m);
  for (int i = 0; i < micro<N>; ++i)
    for (int j = 0; j < micro<N>; ++j) sums[i][j] += s.ds[i][j];
  __syncthreads();
}

/// Writes a square of the bias's gradient, summed over its rows or columns where the bias has the extent 1.
template <class N>
__device__ void write_square(const attention_arguments& a, i64 b, i64 h, i64 query, i64 key, square_memory<N>& m,
                             const N (&sums)[micro<N>][micro<N>]) {
  square_gradients<N>::store(sums, m);
  const i64* const extents = a.g.bias_extents;
  const i64 rows = extents[2] == 1                  ? 1
                   : extents[2] - query < square<N> ? extents[2] - query
                                                    : square<N>,
            columns = extents[3] == 1                ? 1
                      : extents[3] - key < square<N> ? extents[3] - key
                                                     : square<N>;
  for (i64 n = threadIdx.x; n < rows * columns; n += blockDim.x) {
    const i64 r = n / columns, c = n % columns;
    N sum = 0;
    for (i64 i = extents[2] == 1 ? 0 : r; i < (extents[2] == 1 ? square<N> : r + 1); ++i)
      for (i64 j = extents[3] == 1 ? 0 : c; j < (extents[3] == 1 ? square<N> : c + 1); ++j) sum += m.scores[i][j];
    static_cast<N*>(a.to)[a.g.bias_at(b, h, query + r, key + c)] = sum;
  }
  __syncthreads();
}

template <class N>
__device__ void attention_bias_gradient(const attention_arguments& a) {
  __shared__ square_memory<N> m;
  const attention_geometry& g = a.g;
  const i64* const extents = g.bias_extents;
  const i64 rows = kernel_arguments::divided_up(extents[2], square<N>),
            columns = kernel_arguments::divided_up(extents[3], square<N>);
  const i64 all_queries = extents[2] == 1 ? g.queries : square<N>, all_keys = extents[3] == 1 ? g.keys : square<N>;
  for (i64 n = blockIdx.x; n < extents[0] * extents[1] * rows * columns; n += gridDim.x) {
    const i64 key = n % columns * square<N>, query = n / columns % rows * square<N>,
              head = n / columns / rows % extents[1], batch = n / columns / rows / extents[1];
    N sums[micro<N>][micro<N>] = {};
    for (i64 b = batch; b < (extents[0] == 1 ? g.batch : batch + 1); ++b)
      for (i64 h = head; h < (extents[1] == 1 ? g.heads : head + 1); ++h)
        for (i64 i = query; i < query + all_queries; i += square<N>)
          for (i64 j = key; j < key + all_keys; j += square<N>) add_squares<N>(a, b, h, i, j, m, sums);
    write_square<N>(a, batch, head, query, key, m, sums);
  }
}

KERNELS(attention_query_gradient, attention_arguments, attention_query_gradient)
KERNELS(attention_key_gradient, attention_arguments, attention_key_gradient)
KERNELS(attention_bias_gradient, attention_arguments, attention_bias_gradient)

}  // namespace troupe::dnn::on_gpu
