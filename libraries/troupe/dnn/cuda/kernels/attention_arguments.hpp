// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/dtype.hpp>
#include <troupe/dnn/cuda/kernels/kernel_arguments.hpp>
#include <troupe/dnn/operations/attention/attributes.hpp>
#include <troupe/dnn/steps/attention_geometry.hpp>

/// Arguments of the kernels of attention, and the division of their work.
namespace troupe::dnn::kernel_arguments {

/// Threads of a block: of the kernels for square tiles of scores, and of the kernel for tiles of few queries.
inline constexpr unsigned attention_threads = 256, small_tile_threads = 128;
/// Rows of a square tile of scores of type N; below, rows of a tile of few queries.
template <class N>
inline constexpr int square_rows = sizeof(N) == 4 ? 64 : 32;
inline constexpr int small_tile_rows = 8;
/// Columns of y, or of a gradient, that a block computes at once: with square tiles, and with tiles of few queries.
inline constexpr int square_columns = 128, small_tile_columns = 256;
/// Warps of a block of the decoding kernels (attention_decoding.cuh), and the most rows of q that a tile may have
/// there.
inline constexpr int decoding_warps = 4, decoding_rows = 16;

struct attention_arguments {
  attention_geometry g;
  std::int64_t
      parts;  ///< parts into which the keys of each tile are divided; `workspace` has the results of several parts
  const void *q, *k, *v, *bias, *dy, *y, *statistics;
  void *to, *second;  ///< y and statistics; for the gradients: dq, or dk and dv, or dbias
  void* workspace;
  dtype type_of_y = {};  ///< f16 or bf16; any other type means the type in which the kernel computes
};

/// Splits the queries into tiles. At a time, a block computes a tile, or a part of its keys or of its columns. The
/// heads of q that share a key head (a head of k and v) are split into `chunks` chunks of `heads` heads. The tokens of
/// a row of the batch are split into `tiles` runs of `tokens` tokens. A tile is one chunk of heads for one run of
/// tokens. Its scores have a row for each head of each token.
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

/// Returns the rows of a tile that has all queries of a sequence, for all heads that share a key head.
TROUPE_HOST_DEVICE std::int64_t rows_of_sequence(const attention_geometry& g) noexcept {
  // Packed sequences have few queries on average.
  return g.shared * (g.query_layout == sequence_layout::offsets ? divided_up(g.queries, g.batch) : g.queries);
}

/// Returns the number of rows of q.
TROUPE_HOST_DEVICE std::int64_t rows_of(const attention_geometry& g) noexcept {
  return (g.query_layout == sequence_layout::offsets ? 1 : g.batch) * g.heads * g.queries;
}
/// Returns the elements of workspace for a row of q and a part of the keys: a row of y, the largest score, the sum of
/// the weights.
TROUPE_HOST_DEVICE std::int64_t row_workspace_of(const attention_geometry& g) noexcept { return g.value_width + 2; }

}  // namespace troupe::dnn::kernel_arguments
