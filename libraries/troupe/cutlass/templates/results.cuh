// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts sums in registers to results in memory, for all templates. A warp converts 16 rows of sums at a time; a lane
// has sums of rows lane / 4 and lane / 4 + 8, of two of each 8 columns. The sums pass through shared memory, after
// which each lane has 8 consecutive elements of a row. Included after `kernel_epilogue` and `variant`, which has sums,
// result, result_access, part_rows, part_columns and registers_to_add.
namespace troupe::cutlass::kernels::results {

using number = kernel_epilogue::number;
using sums = variant::sums;

constexpr int halves = kernel_epilogue::paired ? 2 : 1;
constexpr int reduction_count = kernel_epilogue::reductions > 0 ? kernel_epilogue::reductions : 1;

// 16 rows of a warp in product `batch`; rows before `end` exist. `part` is the number of these 16 rows among those of
// all products; parts before `end_part` exist.
struct rows {
  int batch, row, column, part, end, end_part, row_batch;
};
// Describes 16 rows of the tile; `part` is counted from the first 16 rows of the product.
__device__ __forceinline__ rows rows_of(const work& w, int row, int column, int part) {
  return {w.batch, row, column, w.first_part + part, w.end_row, w.end_part, w.row_batch};
}

// The rows and columns of staged sums. Sums of the tensor cores are in order. If `Interleaved`, a lane has 4
// consecutive rows of 32 and 4 consecutive columns of 16: the 16 rows that are staged together are every other two of
// 32 rows, and a block of 8 columns is every other two of 16 columns.
template <bool Interleaved>
struct layout {
  static __device__ __forceinline__ int row(int i) { return Interleaved ? i % 8 * 4 + i / 8 : i; }
  static __device__ __forceinline__ int column(int block, int lane) {
    return Interleaved ? block / 2 * 16 + lane % 4 * 4 + block % 2 * 2 : block * 8 + lane % 4 * 2;
  }
};

// -- partial results of reductions, one reduction after the other, with memory for the largest kind each. The part of a
// column has the 16 rows of a warp, the part of a row the columns of a warp.

__device__ __forceinline__ int column_parts(const fixed_arguments& p) {
  return p.n / variant::part_columns + (p.n % variant::part_columns != 0 ? 1 : 0);
}
// Returns the largest possible number of parts of a column: each group of rows may end with a part of less than 16
// rows.
__device__ __forceinline__ i64 row_parts(const fixed_arguments& p) {
#ifdef TROUPE_GROUPS
  if (p.packed != 0) return static_cast<i64>(parts_of(p.m)) + static_cast<i64>(p.batch) * (variant::part_rows / 16);
#endif
  return static_cast<i64>(p.batch) * parts_of(p.m);
}
__device__ __forceinline__ number* partial(const fixed_arguments& p, int r) {
  const i64 columns = column_parts(p), column_partials = row_parts(p) * max(static_cast<i64>(p.n), columns),
            row_partials = columns * p.m * (p.packed != 0 ? 1 : p.batch);
  return static_cast<number*>(p.reductions) + r * max(column_partials, row_partials);
}

// Writes the partial result of a row, if the row exists. The next two functions do so for a column and for all
// elements.
__device__ __forceinline__ void write_row_part(const kernel_epilogue::all& p, int r, const rows& w, int row, number x) {
  const int columns = column_parts(p), column_part = w.column / variant::part_columns;
  if (row < w.end && column_part < columns)
    partial(p, r)[(static_cast<i64>(w.row_batch) * columns + column_part) * p.m + row] = x;
}
__device__ __forceinline__ void write_column_part(const kernel_epilogue::all& p, int r, const rows& w, int column,
                                                  number x) {
  if (column < p.n && w.part < w.end_part) partial(p, r)[static_cast<i64>(w.part) * p.n + column] = x;
}
__device__ __forceinline__ void write_part_of_all(const kernel_epilogue::all& p, int r, const rows& w, number x) {
  const int columns = column_parts(p), column_part = w.column / variant::part_columns;
  if (w.part < w.end_part && column_part < columns) partial(p, r)[static_cast<i64>(w.part) * columns + column_part] = x;
}

// -- through shared memory

template <class T>
struct alignas(2 * sizeof(T)) two {
  T x, y;
};
// Stores a lane's sums of one block of 8 columns.
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

// A lane's reductions of 16 rows, over the elements that it has.
template <int Passes>
struct reduced {
  number per_row[reduction_count][Passes], everything[reduction_count];
  __device__ __forceinline__ void start() {
#pragma unroll
    for (int r = 0; r < kernel_epilogue::reductions; ++r) {
      everything[r] = start_of<number>(kernel_epilogue::how[r]);
#pragma unroll
      for (int i = 0; i < Passes; ++i) per_row[r][i] = start_of<number>(kernel_epilogue::how[r]);
    }
  }
};

// A lane's reductions of 16 rows, with sums in the layout of the tensor cores: of two rows, and two of each 8 columns.
struct quad_reductions {
  number per_row[reduction_count][2], everything[reduction_count], per_column[reduction_count][2];
  __device__ __forceinline__ void start() {
#pragma unroll
    for (int r = 0; r < kernel_epilogue::reductions; ++r)
      everything[r] = per_row[r][0] = per_row[r][1] = start_of<number>(kernel_epilogue::how[r]);
  }
  __device__ __forceinline__ void start_columns() {
#pragma unroll
    for (int r = 0; r < kernel_epilogue::reductions; ++r)
      per_column[r][0] = per_column[r][1] = start_of<number>(kernel_epilogue::how[r]);
  }
  // Adds the values of one row, the first or the second, in the first `count` of two columns.
  __device__ __forceinline__ void add(const number (&values)[reduction_count][2], int row, int count) {
#pragma unroll
    for (int r = 0; r < kernel_epilogue::reductions; ++r)
#pragma unroll
      for (int e = 0; e < 2; ++e)
        if (e < count) {
          number& to = kernel_epilogue::over[r] == scope_row      ? per_row[r][row]
                       : kernel_epilogue::over[r] == scope_column ? per_column[r][e]
                                                                  : everything[r];
          to = combined(kernel_epilogue::how[r], to, values[r][e]);
        }
  }
  // Writes the parts of two columns from `column` on.
  __device__ __forceinline__ void finish_columns(const kernel_epilogue::all& p, int lane, const rows& w,
                                                 int column) const {
#pragma unroll
    for (int r = 0; r < kernel_epilogue::reductions; ++r)
      if (kernel_epilogue::over[r] == scope_column)
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const number x = combined_over(32 - 4, kernel_epilogue::how[r], per_column[r][e]);
          if (lane < 4) write_column_part(p, r, w, column + e, x);
        }
  }
  // Writes the parts of reductions over rows and over all elements.
  __device__ __forceinline__ void finish(const kernel_epilogue::all& p, int lane, const rows& w) const {
#pragma unroll
    for (int r = 0; r < kernel_epilogue::reductions; ++r) {
      if (kernel_epilogue::over[r] == scope_row) {
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const number x = combined_over(3, kernel_epilogue::how[r], per_row[r][i]);
          if (lane % 4 == 0) write_row_part(p, r, w, w.row + lane / 4 + i * 8, x);
        }
      } else if (kernel_epilogue::over[r] == scope_all) {
        const number x = combined_over(31, kernel_epilogue::how[r], everything[r]);
        if (lane == 0) write_part_of_all(p, r, w, x);
      }
    }
  }
};

// Maps rows of the result, which have one stride, to memory. For other rows see image_rows.
struct straight {
  __device__ __forceinline__ int row(int r) const { return r; }
  __device__ __forceinline__ matrix result(const matrix& p, int) const { return p; }
  __device__ __forceinline__ run in_result(const run& at) const { return at; }
};

// The distribution of 16 rows of `Width` results over the lanes, 8 results of a row in each pass.
template <int Width>
struct lane_rows {
  static constexpr int lanes = Width / 8, rows = 32 / lanes, passes = rows < 16 ? 16 / rows : 1;
};

// Returns how many of `Runs` runs of 8 elements are requested ahead: memory is slow, so operands of the epilogue are
// requested before they are used, as far as registers allow.
template <int Runs>
constexpr int runs_ahead() {
  constexpr int fitting = variant::registers_to_add / 2 /
                          (kernel_epilogue::registers > 0 ? kernel_epilogue::registers : variant::registers_to_add);
  return fitting < 1 ? 1 : fitting < Runs ? fitting : Runs;
}

// Applies the epilogue to 16 rows of `Width` staged columns, and writes the results. If the result has two halves, the
// columns of the right half are staged `right` sums further. If `Inside`, all rows and columns exist.
template <class Layout, bool Inside, int Width, int Pitch, class Map = straight>
__device__ __forceinline__ void finish(const kernel_epilogue::all& p, const sums* staged, int right, int lane,
                                       const rows& w, int column, reduced<lane_rows<Width>::passes>& parts,
                                       const Map& map = {}) {
  using distribution = lane_rows<Width>;
  number per_column[reduction_count][8];
#pragma unroll
  for (int r = 0; r < kernel_epilogue::reductions; ++r)
#pragma unroll
    for (int e = 0; e < 8; ++e) per_column[r][e] = start_of<number>(kernel_epilogue::how[r]);
  const int from = lane % distribution::lanes * 8, at_column = column + from,
            count = Inside ? 8 : min(8, p.n - at_column);
  const auto row_of = [&](int i) { return i * distribution::rows + lane / distribution::lanes; };
  const auto exists = [&](int row) {
    return (distribution::rows <= 16 || row < 16) && (Inside || (w.row + Layout::row(row) < w.end && count > 0));
  };
  const auto run_of = [&](int product_row) { return run{w.batch, map.row(product_row), at_column, count}; };
  constexpr int ahead = runs_ahead<distribution::passes>();
  kernel_epilogue::template stored<8> memory[ahead];
  const auto read = [&](int i) {
    if (exists(row_of(i))) kernel_epilogue::read(p, run_of(w.row + Layout::row(row_of(i))), memory[i % ahead]);
  };
#pragma unroll
  for (int i = 0; i < ahead; ++i) read(i);
#pragma unroll
  for (int i = 0; i < distribution::passes; ++i) {
    const int row = row_of(i), product_row = w.row + Layout::row(row);
    const kernel_epilogue::template stored<8> mine = memory[i % ahead];
    if (i + ahead < distribution::passes) read(i + ahead);
    if (!exists(row)) continue;
    const run at = run_of(product_row);
    number left[8], other[8], result[8], values[reduction_count][8];
    read_eight(left, staged + row * Pitch + from);
    if constexpr (halves == 2) read_eight(other, staged + row * Pitch + right + from);
    kernel_epilogue::apply(p, at, mine, left, halves == 2 ? other : left, result, values);
    store_run<variant::result, variant::result_access>(map.result(p.result, product_row), map.in_result(at), result);
#pragma unroll
    for (int r = 0; r < kernel_epilogue::reductions; ++r)
#pragma unroll
      for (int e = 0; e < 8; ++e)
        if (e < at.count) {
          number& to = kernel_epilogue::over[r] == scope_row      ? parts.per_row[r][i]
                       : kernel_epilogue::over[r] == scope_column ? per_column[r][e]
                                                                  : parts.everything[r];
          to = combined(kernel_epilogue::how[r], to, values[r][e]);
        }
  }
#pragma unroll
  for (int r = 0; r < kernel_epilogue::reductions; ++r)
    if (kernel_epilogue::over[r] == scope_column)
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        const number x = combined_over(32 - distribution::lanes, kernel_epilogue::how[r], per_column[r][e]);
        if (lane < distribution::lanes) write_column_part(p, r, w, at_column + e, x);
      }
}

// Writes the parts of 16 rows, of reductions over rows and over all elements.
template <class Layout, int Width>
__device__ __forceinline__ void finish_parts(const kernel_epilogue::all& p, int lane, const rows& w,
                                             const reduced<lane_rows<Width>::passes>& parts) {
  using distribution = lane_rows<Width>;
#pragma unroll
  for (int r = 0; r < kernel_epilogue::reductions; ++r) {
    if (kernel_epilogue::over[r] == scope_row) {
#pragma unroll
      for (int i = 0; i < distribution::passes; ++i) {
        const number x = combined_over(distribution::lanes - 1, kernel_epilogue::how[r], parts.per_row[r][i]);
        const int in_block = i * distribution::rows + lane / distribution::lanes;
        if (lane % distribution::lanes == 0 && in_block < 16) write_row_part(p, r, w, w.row + Layout::row(in_block), x);
      }
    } else if (kernel_epilogue::over[r] == scope_all) {
      const number x = combined_over(31, kernel_epilogue::how[r], parts.everything[r]);
      if (lane == 0) write_part_of_all(p, r, w, x);
    }
  }
}

// Writes 16 rows, `Width` results of each row at a time; the staging memory holds no more. `d` are the sums of 16 rows.
template <class Layout, bool Inside, int Width, int Count, class Map = straight>
__device__ __forceinline__ void write_rows(const kernel_epilogue::all& p, sums* staging, int lane,
                                           const sums (&d)[Count], const rows& w, const Map& map = {}) {
  constexpr int pitch = Width * halves + 8, out = Count * 2 / halves;
  reduced<lane_rows<Width>::passes> parts;
  parts.start();
#pragma unroll
  for (int c = 0; c < out / Width; ++c) {
    __syncwarp();
#pragma unroll
    for (int half = 0; half < halves; ++half)
#pragma unroll
      for (int j = 0; j < Width / 8; ++j)
        stage<Layout, pitch>(staging + half * Width, lane, j, &d[half * (Count / 2) + (c * (Width / 8) + j) * 4]);
    __syncwarp();
    finish<Layout, Inside, Width, pitch>(p, staging, Width, lane, w, w.column + c * Width, parts, map);
  }
  finish_parts<Layout, Width>(p, lane, w, parts);
}

}  // namespace troupe::cutlass::kernels::results
