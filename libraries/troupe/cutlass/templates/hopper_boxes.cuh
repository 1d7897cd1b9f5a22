// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Writes results of one or two bytes: they pass through shared memory in boxes of 64 rows of 128 bytes, which the
// tensor memory accelerator writes. Included after hopper.cuh, for variants that are not staged: rows of their results
// have one stride.
namespace troupe::cutlass::kernels::hopper {

constexpr int result_bytes = sizeof(variant::result::bits), box_columns = 128 / result_bytes,
              box_parts = box_columns / 16;

// Stores 16 columns of the 16 rows of a warp in a box. A lane stores two elements of row lane / 4 and of the row 8
// below, in each 8 columns.
__device__ __forceinline__ void put(unsigned box, int warp, int lane, int part, const number (&x)[4][2]) {
  using result = variant::result;
  if constexpr (result_bytes == 2) {
    const int row = warp * 16 + lane % 16, chunk = part * 2 + lane / 16;
    store_matrices(box + row * 128 + ((chunk ^ (row % 8)) * 16), two_of<result>(x[0][0], x[0][1]),
                   two_of<result>(x[1][0], x[1][1]), two_of<result>(x[2][0], x[2][1]),
                   two_of<result>(x[3][0], x[3][1]));
  } else {
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const int row = warp * 16 + lane / 4 + q % 2 * 8;
      store_two_bytes(box + row * 128 + ((part ^ (row % 8)) * 16) + q / 2 * 8 + lane % 4 * 2,
                      two_bytes_of<result>(x[q][0], x[q][1]));
    }
  }
}

// Fills a box with the columns from `column` on of 64 rows, of which this warp has 16; `d` are its sums from that
// column on. First waits until the accelerator has read the previous content: for all stores, or for all but the last.
template <bool Inside>
__device__ __forceinline__ void fill_box(const consumer& me, const sums* d, const work& w, const results::rows& rows,
                                         unsigned box, int column, bool waits_for_all,
                                         results::quad_reductions& reduced) {
  const int first_row = rows.row + me.lane / 4;
  const auto run_of = [&](int part, int q) {
    const int c = column + part * 16 + q / 2 * 8 + me.lane % 4 * 2;
    return run{w.batch, first_row + q % 2 * 8, c, Inside ? 2 : me.p.n - c};
  };
  const auto exists = [&](const run& at) { return Inside || (at.row < w.end_row && at.count > 0); };
  // See results::runs_ahead: the runs of 16 columns take as many registers as 8 elements.
  constexpr int ahead = results::runs_ahead<box_parts>();
  kernel_epilogue::template stored<2> memory[ahead][4];
  const auto read = [&](int part) {
#pragma unroll
    for (int q = 0; q < 4; ++q)
      if (const run at = run_of(part, q); exists(at)) kernel_epilogue::read(me.p, at, memory[part % ahead][q]);
  };
#pragma unroll
  for (int part = 0; part < ahead; ++part) read(part);
  if (me.thread == 0) {
    if (waits_for_all)
      wait_until_stores_have_read<0>();
    else
      wait_until_stores_have_read<boxes - 1>();
  }
  me.synchronize_group();
#pragma unroll
  for (int part = 0; part < box_parts; ++part) {
    number result[4][2];
#pragma unroll
    for (int q = 0; q < 4; ++q) {
      const sums* const x = &d[part * 8 + q * 2];
      const sums* const y = x + (halves - 1) * (sums_per_thread / 2);
      const number left[2] = {static_cast<number>(x[0]), static_cast<number>(x[1])},
                   right[2] = {static_cast<number>(y[0]), static_cast<number>(y[1])};
      number values[results::reduction_count][2];
      const run at = run_of(part, q);
      result[q][0] = result[q][1] = 0;
      if (q % 2 == 0) reduced.start_columns();
      if (exists(at)) {
        kernel_epilogue::apply(me.p, at, memory[part % ahead][q], left, right, result[q], values);
        reduced.add(values, q % 2, at.count);
      }
      if (q % 2 == 1) reduced.finish_columns(me.p, me.lane, rows, at.column);
    }
    if (part + ahead < box_parts) read(part + ahead);
    put(box, me.warp, me.lane, part, result);
  }
  publish_shared_memory();
  me.synchronize_group();
}

// Writes the results of a tile, box by box.
template <bool Inside>
__device__ __forceinline__ void write_boxes_of(const consumer& me, const sums (&d)[blocks_m][sums_per_thread],
                                               const work& w) {
  constexpr int across = out_n / box_columns;
  // False if the number of boxes is odd: then the first box of a tile reuses the memory of the previous tile's last
  // box.
  constexpr bool alternate = blocks_m * across % boxes == 0;
  const int column = me.column_of(w);
#pragma unroll
  for (int m = 0; m < blocks_m; ++m) {
    const int from = me.rows_from(w, m), row = from + me.warp * 16;
    const results::rows rows = results::rows_of(w, row, column, (row - w.first_row) / 16);
    results::quad_reductions reduced;
    reduced.start();
#pragma unroll
    for (int i = 0; i < across; ++i) {
      const unsigned box = me.out + (m * across + i) % boxes * box_bytes;
      fill_box<Inside>(me, &d[m][i * box_parts * 8], w, rows, box, column + i * box_columns,
                       !alternate && m == 0 && i == 0, reduced);
      if (me.thread == 0) {
        store(&me.p.result_map, box, column + i * box_columns, from, w.batch);
        commit_stores();
      }
    }
    reduced.finish(me.p, me.lane, rows);
  }
}
__device__ __forceinline__ void write_boxes(const consumer& me, const sums (&d)[blocks_m][sums_per_thread],
                                            const work& w) {
  if (!kernel_epilogue::reads_memory || me.is_inside(w))
    write_boxes_of<true>(me, d, w);
  else
    write_boxes_of<false>(me, d, w);
}

}  // namespace troupe::cutlass::kernels::hopper
