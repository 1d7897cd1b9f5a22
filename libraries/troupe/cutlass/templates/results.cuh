// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts sums in registers to results in memory, for all templates. A warp has 16 rows of sums at a time: a lane has
// those of rows lane / 4 and lane / 4 + 8, two of each 8 columns. They pass through shared memory, so that each lane
// has 8 consecutive elements of a row. Included after `tail` and `variant`, which has sums, result, result_access,
// part_rows, part_columns and registers_to_add.
namespace troupe::cutlass::kernels::results {

using number = tail::number;
using sums = variant::sums;

constexpr int pair = tail::paired ? 2 : 1;
constexpr int kinds = tail::reductions > 0 ? tail::reductions : 1;

// 16 rows of a warp, in the product `batch`, of which those before `end` exist. `part` counts such rows in all
// products, and those before `end_part` exist.
struct rows {
  int batch, row, column, part, end, end_part, row_batch;
};
// `part` counts from the first of the product on.
__device__ __forceinline__ rows rows_of(const work& w, int row, int column, int part) {
  return {w.batch, row, column, w.first_part + part, w.end_row, w.end_part, w.row_batch};
}

// Rows and columns of a lane's sums. Those of the tensor cores are at the positions that their names say. Where
// `Interleaved`, a lane has 4 consecutive elements of 32 rows and of 16 columns; 16 rows of sums are every other two of
// 32, and a block of 8 columns is every other two of 16.
template <bool Interleaved>
struct layout {
  static __device__ __forceinline__ int row(int i) { return Interleaved ? i % 8 * 4 + i / 8 : i; }
  static __device__ __forceinline__ int column(int block, int lane) {
    return Interleaved ? block / 2 * 16 + lane % 4 * 4 + block % 2 * 2 : block * 8 + lane % 4 * 2;
  }
};

// -- partial results of reductions: one kind after the other, each as large as the largest. A part of a column are
// the 16 rows of a warp, a part of a row the columns of a warp.

__device__ __forceinline__ int column_parts(const fixed_part& p) {
  return p.n / variant::part_columns + (p.n % variant::part_columns != 0 ? 1 : 0);
}
// Each group of rows may end with a part that is not full.
__device__ __forceinline__ i64 row_parts(const fixed_part& p) {
#ifdef TROUPE_GROUPS
  if (p.packed != 0) return static_cast<i64>(parts_of(p.m)) + static_cast<i64>(p.batch) * (variant::part_rows / 16);
#endif
  return static_cast<i64>(p.batch) * parts_of(p.m);
}
__device__ __forceinline__ number* partial(const fixed_part& p, int r) {
  const i64 columns = column_parts(p), of_columns = row_parts(p) * max(static_cast<i64>(p.n), columns),
            of_rows = columns * p.m * (p.packed != 0 ? 1 : p.batch);
  return static_cast<number*>(p.reductions) + r * max(of_columns, of_rows);
}

// Writes a part, if there is such a row or column.
__device__ __forceinline__ void leave_part_of_row(const tail::all& p, int r, const rows& w, int row, number x) {
  const int columns = column_parts(p), column_part = w.column / variant::part_columns;
  if (row < w.end && column_part < columns)
    partial(p, r)[(static_cast<i64>(w.row_batch) * columns + column_part) * p.m + row] = x;
}
__device__ __forceinline__ void leave_part_of_column(const tail::all& p, int r, const rows& w, int column, number x) {
  if (column < p.n && w.part < w.end_part) partial(p, r)[static_cast<i64>(w.part) * p.n + column] = x;
}
__device__ __forceinline__ void leave_part_of_all(const tail::all& p, int r, const rows& w, number x) {
  const int columns = column_parts(p), column_part = w.column / variant::part_columns;
  if (w.part < w.end_part && column_part < columns) partial(p, r)[static_cast<i64>(w.part) * columns + column_part] = x;
}

// -- through shared memory

template <class T>
struct alignas(2 * sizeof(T)) two {
  T x, y;
};
// Stores one block of 8 columns.
template <class Layout, int Pitch>
__device__ __forceinline__ void stage(sums* to, int lane, int block, const sums* d) {
  sums* const at = to + lane / 4 * Pitch + Layout::column(block, lane);
  *reinterpret_cast<two<sums>*>(at) = {d[0], d[1]};
  *reinterpret_cast<two<sums>*>(at + 8 * Pitch) = {d[2], d[3]};
}
__device__ __forceinline__ void read_eight(number (&to)[8], const sums* from) {
  constexpr int each = 16 / sizeof(sums);
  struct alignas(16) some {
    sums x[each];
  };
#pragma unroll
  for (int i = 0; i < 8 / each; ++i) {
    const some f = reinterpret_cast<const some*>(from)[i];
#pragma unroll
    for (int j = 0; j < each; ++j) to[i * each + j] = static_cast<number>(f.x[j]);
  }
}

// Reduces 16 rows, as far as a lane has them.
template <int Passes>
struct reduced {
  number of_row[kinds][Passes], everything[kinds];
  __device__ __forceinline__ void start() {
#pragma unroll
    for (int r = 0; r < tail::reductions; ++r) {
      everything[r] = start_of<number>(tail::how[r]);
#pragma unroll
      for (int i = 0; i < Passes; ++i) of_row[r][i] = start_of<number>(tail::how[r]);
    }
  }
};

// Reduces 16 rows, with sums in the layout of the tensor cores: of two rows, and of two of each 8 columns.
struct quad_reductions {
  number of_row[kinds][2], everything[kinds], of_column[kinds][2];
  __device__ __forceinline__ void start() {
#pragma unroll
    for (int r = 0; r < tail::reductions; ++r)
      everything[r] = of_row[r][0] = of_row[r][1] = start_of<number>(tail::how[r]);
  }
  __device__ __forceinline__ void start_columns() {
#pragma unroll
    for (int r = 0; r < tail::reductions; ++r) of_column[r][0] = of_column[r][1] = start_of<number>(tail::how[r]);
  }
  // Reduces the first `count` of two columns, in the first row or the second.
  __device__ __forceinline__ void add(const number (&values)[kinds][2], int row, int count) {
#pragma unroll
    for (int r = 0; r < tail::reductions; ++r)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (e < count) {
          number& to = tail::over[r] == of_rows      ? of_row[r][row]
                       : tail::over[r] == of_columns ? of_column[r][e]
                                                     : everything[r];
          to = combined(tail::how[r], to, values[r][e]);
        }
  }
  // Writes the parts of two columns from `column` on.
  __device__ __forceinline__ void finish_columns(const tail::all& p, int lane, const rows& w, int column) const {
#pragma unroll
    for (int r = 0; r < tail::reductions; ++r)
      if (tail::over[r] == of_columns)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const number x = combined_over(32 - 4, tail::how[r], of_column[r][e]);
          if (lane < 4) leave_part_of_column(p, r, w, column + e, x);
        }
  }
  // Writes the parts of rows and of all.
  __device__ __forceinline__ void finish(const tail::all& p, int lane, const rows& w) const {
#pragma unroll
    for (int r = 0; r < tail::reductions; ++r) {
      if (tail::over[r] == of_rows) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const number x = combined_over(3, tail::how[r], of_row[r][i]);
          if (lane % 4 == 0) leave_part_of_row(p, r, w, w.row + lane / 4 + i * 8, x);
        }
      } else if (tail::over[r] == of_all) {
        const number x = combined_over(31, tail::how[r], everything[r]);
        if (lane == 0) leave_part_of_all(p, r, w, x);
      }
    }
  }
};

// Rows of the result with one stride. See also window_locations.cuh.
struct straight {
  __device__ __forceinline__ int row(int r) const { return r; }
  __device__ __forceinline__ place result(const place& p, int) const { return p; }
  __device__ __forceinline__ run in_result(const run& at) const { return at; }
};

// Distribution of 16 rows of `Width` results over the lanes.
template <int Width>
struct sharing {
  static constexpr int lanes = Width / 8, rows = 32 / lanes, passes = rows < 16 ? 16 / rows : 1;
};

// Memory is slow, so values that the epilogue reads are requested before they are used, as far as registers allow: for
// this many of `Runs` runs of 8.
template <int Runs>
constexpr int runs_ahead() {
  constexpr int fitting =
      variant::registers_to_add / 2 / (tail::registers > 0 ? tail::registers : variant::registers_to_add);
  return fitting < 1 ? 1 : fitting < Runs ? fitting : Runs;
}

// Applies the epilogue to 16 rows of `Width` staged columns, and to as many that are `right` sums further, and writes
// the results. Where `Inside`, all of them exist.
template <class Layout, bool Inside, int Width, int Pitch, class Map = straight>
__device__ __forceinline__ void finish(const tail::all& p, const sums* staged, int right, int lane, const rows& w,
                                       int column, reduced<sharing<Width>::passes>& parts, const Map& map = {}) {
  using share = sharing<Width>;
  number of_column[kinds][8];
#pragma unroll
  for (int r = 0; r < tail::reductions; ++r)
#pragma unroll
    for (int e = 0; e < 8; ++e) of_column[r][e] = start_of<number>(tail::how[r]);
  const int from = lane % share::lanes * 8, at_column = column + from, count = Inside ? 8 : min(8, p.n - at_column);
  const auto row_of = [&](int i) { return i * share::rows + lane / share::lanes; };
  const auto exists = [&](int row) {
    return (share::rows <= 16 || row < 16) && (Inside || (w.row + Layout::row(row) < w.end && count > 0));
  };
  const auto run_of = [&](int of_product) { return run{w.batch, map.row(of_product), at_column, count}; };
  constexpr int ahead = runs_ahead<share::passes>();
  tail::template stored<8> memory[ahead];
  const auto read = [&](int i) {
    if (exists(row_of(i))) tail::read(p, run_of(w.row + Layout::row(row_of(i))), memory[i % ahead]);
  };
#pragma unroll
  for (int i = 0; i < ahead; ++i) read(i);
#pragma unroll
  for (int i = 0; i < share::passes; ++i) {
    const int row = row_of(i), of_product = w.row + Layout::row(row);
    const tail::template stored<8> mine = memory[i % ahead];
    if (i + ahead < share::passes) read(i + ahead);
    if (!exists(row)) continue;
    const run at = run_of(of_product);
    number left[8], other[8], result[8], values[kinds][8];
    read_eight(left, staged + row * Pitch + from);
    if constexpr (pair == 2) read_eight(other, staged + row * Pitch + right + from);
    tail::apply(p, at, mine, left, pair == 2 ? other : left, result, values);
    store_run<variant::result, variant::result_access>(map.result(p.result, of_product), map.in_result(at), result);
#pragma unroll
    for (int r = 0; r < tail::reductions; ++r)
#pragma unroll
      for (int e = 0; e < 8; ++e)
        if (e < at.count) {
          number& to = tail::over[r] == of_rows      ? parts.of_row[r][i]
                       : tail::over[r] == of_columns ? of_column[r][e]
                                                     : parts.everything[r];
          to = combined(tail::how[r], to, values[r][e]);
        }
  }
#pragma unroll
  for (int r = 0; r < tail::reductions; ++r)
    if (tail::over[r] == of_columns)
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        const number x = combined_over(32 - share::lanes, tail::how[r], of_column[r][e]);
        if (lane < share::lanes) leave_part_of_column(p, r, w, at_column + e, x);
      }
}

// Writes the parts of 16 rows and of all.
template <class Layout, int Width>
__device__ __forceinline__ void finish_parts(const tail::all& p, int lane, const rows& w,
                                             const reduced<sharing<Width>::passes>& parts) {
  using share = sharing<Width>;
#pragma unroll
  for (int r = 0; r < tail::reductions; ++r) {
    if (tail::over[r] == of_rows) {
#pragma unroll
      for (int i = 0; i < share::passes; ++i) {
        const number x = combined_over(share::lanes - 1, tail::how[r], parts.of_row[r][i]);
        const int in_block = i * share::rows + lane / share::lanes;
        if (lane % share::lanes == 0 && in_block < 16) leave_part_of_row(p, r, w, w.row + Layout::row(in_block), x);
      }
    } else if (tail::over[r] == of_all) {
      const number x = combined_over(31, tail::how[r], parts.everything[r]);
      if (lane == 0) leave_part_of_all(p, r, w, x);
    }
  }
}

// Writes 16 rows, `Width` results of each at a time: staging memory for that suffices. `d` are the sums of 16 rows.
template <class Layout, bool Inside, int Width, int Count, class Map = straight>
__device__ __forceinline__ void write_rows(const tail::all& p, sums* staging, int lane, const sums (&d)[Count],
                                           const rows& w, const Map& map = {}) {
  constexpr int pitch = Width * pair + 8, out = Count * 2 / pair;
  reduced<sharing<Width>::passes> parts;
  parts.start();
#pragma unroll
  for (int c = 0; c < out / Width; ++c) {
    __syncwarp();
#pragma unroll
    for (int half = 0; half < pair; ++half)
#pragma unroll
      for (int j = 0; j < Width / 8; ++j)
        stage<Layout, pitch>(staging + half * Width, lane, j, &d[half * (Count / 2) + (c * (Width / 8) + j) * 4]);
    __syncwarp();
    finish<Layout, Inside, Width, pitch>(p, staging, Width, lane, w, w.column + c * Width, parts, map);
  }
  finish_parts<Layout, Width>(p, lane, w, parts);
}

}  // namespace troupe::cutlass::kernels::results
