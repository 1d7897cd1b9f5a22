// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/dtype.hpp>
#include <troupe/dnn/cuda/kernel_arguments.hpp>
#include <troupe/dnn/steps/attention_geometry.hpp>

/// Arguments of the kernels of attention, and the division of their work.
namespace troupe::dnn::kernel_arguments {

/// Threads of a block that computes squares of scores, and of one that computes few rows.
inline constexpr unsigned attention_threads = 256, few_threads = 128;
/// Rows of a square, by the type of numbers; rows of a tile with few rows.
template <class N>
inline constexpr int square_rows = sizeof(N) == 4 ? 64 : 32;
inline constexpr int few_rows = 8;
/// Columns of a result that a block computes at once.
inline constexpr int square_columns = 128, few_columns = 256;
/// Warps of a block that decodes, and the most rows that it computes.
inline constexpr int decoding_warps = 4, decoding_rows = 16;

struct attending {
  attention_geometry g;
  std::int64_t parts;  ///< number of parts into which the keys of each tile are divided; if several, their results are
                       ///< in `workspace`
  const void *q, *k, *v, *bias, *dy, *y, *statistics;
  void *to, *second;  ///< y and statistics; dq; dk and dv; dbias
  void* workspace;
  dtype type_of_y = {};  ///< type of the result: f16, bf16, or else that of numbers
};

/// Tiles of queries: a row is a head of a query, and the heads of a tile share keys.
struct query_grid {
  std::int64_t heads, chunks, tokens, tiles, rows_of_batch, key_heads;

  TROUPE_HOST_DEVICE query_grid(const attention_geometry& g, std::int64_t most_rows) noexcept
      : heads(g.shared < most_rows ? g.shared : most_rows),
        chunks(divided_up(g.shared, heads)),
        tokens(most_rows / heads),
        tiles(divided_up(g.queries, tokens)),
        rows_of_batch(g.query_layout == sequence_layout::offsets ? 1 : g.batch),
        key_heads(g.key_heads) {}
  TROUPE_HOST_DEVICE std::int64_t count() const noexcept { return rows_of_batch * key_heads * chunks * tiles; }
};

/// Returns the rows of a tile that has few queries: those of a sequence, of all heads that share keys.
TROUPE_HOST_DEVICE std::int64_t rows_of_sequence(const attention_geometry& g) noexcept {
  // Packed sequences have few queries on average.
  return g.shared * (g.query_layout == sequence_layout::offsets ? divided_up(g.queries, g.batch) : g.queries);
}

/// Returns the number of rows of q. Each part of the keys has results for each: y, then the largest score and the sum.
TROUPE_HOST_DEVICE std::int64_t rows_of(const attention_geometry& g) noexcept {
  return (g.query_layout == sequence_layout::offsets ? 1 : g.batch) * g.heads * g.queries;
}
TROUPE_HOST_DEVICE std::int64_t row_workspace_of(const attention_geometry& g) noexcept { return g.value_width + 2; }

}  // namespace troupe::dnn::kernel_arguments
