// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products by the tensor cores of Hopper GPUs. Blocks stay on their multiprocessor and compute tile after tile. One
// thread copies the factors to shared memory, in stages; groups of four warps multiply. The constants of a kernel are
// in `variant`, see variants/hopper_variant.cpp:
//   tile_m, tile_n        the tile of a block
//   stages, depth         the number of stages, and the terms of a stage: 128 bytes
//   cluster_m, cluster_n  the blocks of a cluster, which share copies: blocks of one column of tiles the second factor,
//                         blocks of one row of tiles the first
//   ping_pong             true if each of two groups has its own tile: one stores while the other multiplies; otherwise
//                         the groups share a tile
//   by_lines_1, by_lines_2  true if lines of a factor, instead of terms, are contiguous in memory
//   promoted              the number of instructions after which sums of the tensor cores are added to floats; 0: the
//                         sums of the tensor cores are the results
//   divides               true if tiles are divided along k among blocks
//   staged                true if results pass through shared memory as sums, and threads write the rows; false if they
//                         pass as elements of one or two bytes, which the accelerator writes
namespace troupe::cutlass::kernels::hopper {

using variant::tile_m, variant::tile_n, variant::stages, variant::depth, variant::cluster_m, variant::cluster_n;
using number = kernel_epilogue::number;
using sums = variant::sums;

constexpr int groups = variant::groups;                                 // warp groups that multiply
constexpr bool has_all_rows = variant::ping_pong || variant::splits_k;  // true if each group has all rows of a tile
constexpr int blocks_m = tile_m / 64 / (has_all_rows ? 1 : groups);     // blocks of 64 rows of a group
constexpr int halves = kernel_epilogue::paired && !variant::crossed ? 2 : 1;
constexpr int out_n = tile_n / halves;  // columns of the result
constexpr unsigned bytes_1 = tile_m * variant::line_bytes, bytes_2 = tile_n * 128 * variant::slices,
                   stage_bytes = bytes_1 + bytes_2;
constexpr int peers = cluster_m + cluster_n - 1;  // blocks that copy to this one, itself included
constexpr int sums_per_thread = tile_n / 2;       // a thread's sums in 64 rows
constexpr int width = variant::width, sums_per_instruction = width / 2;  // columns of an instruction

constexpr int staged_width =
    variant::staged_columns + 8;  // stride of a row of sums, padded so that rows do not share a bank
constexpr int boxes = 2;          // boxes of a group, for results: see hopper_boxes.cuh
constexpr unsigned box_bytes = 64 * 128;
constexpr int crossed_lines = tile_n % 64 == 0 ? 64 : tile_n % 32 == 0 ? 32 : 16;  // lines of the second factor
constexpr int crossed_pitch = 64 + 4;
constexpr unsigned out_bytes = groups * (variant::crossed  ? crossed_lines * crossed_pitch * 4
                                         : variant::staged ? 4 * 16 * staged_width * 4
                                                           : boxes * box_bytes);
constexpr unsigned shared_bytes = 1024 + stages * stage_bytes + out_bytes;

// The stages in shared memory, and the barriers that signal which stages are full and which are empty.
struct pipeline {
  unsigned data, full, empty;
  int slot = 0;
  unsigned phase = 0;
  __device__ void advance() {
    if (++slot == stages) slot = 0, phase ^= 1;
  }
  __device__ void skip(int steps) {
    const int to = slot + steps;
    phase ^= to / stages & 1;
    slot = to % stages;
  }
  __device__ unsigned first() const { return data + slot * stage_bytes; }
  __device__ unsigned second() const { return first() + bytes_1; }
};

// Copies lines [line, line + Lines) of a factor, a stage of terms from `term` on. If terms are contiguous, the stage is
// `Slices` slices, each with its own box.
template <bool ByLines, int Lines, int Slices = 1>
__device__ __forceinline__ void copy(unsigned to, const tensor_map* map, int term, int line, int batch,
                                     unsigned barrier, bool shared, unsigned short mask) {
  const auto box = [&](unsigned at, int x, int y) {
    if (shared)
      load(at, map, x, y, batch, barrier, mask);
    else
      load(at, map, x, y, batch, barrier);
  };
  if constexpr (ByLines) {
#pragma unroll
    for (int i = 0; i < Lines / 64; ++i) box(to + i * depth * 128, line + i * 64, term);
  } else {
#pragma unroll
    for (int i = 0; i < Slices; ++i) box(to + i * tile_n * 128, term + i * (depth / Slices), line);
  }
}

// The thread that copies: fills stage after stage, tile after tile. `rank` is the number of the block in its cluster.
__device__ __forceinline__ void produce(const kernel_epilogue::all& p, pipeline stage, schedule todo, unsigned rank) {
  const int in_m = static_cast<int>(rank) % cluster_m, in_n = static_cast<int>(rank) / cluster_m;
  // The first factor goes to the blocks beside this one, the second to the blocks above and below.
  unsigned beside = 0;
#pragma unroll
  for (int i = 0; i < cluster_n; ++i) beside |= 1u << (in_m + i * cluster_m);
  const unsigned above = ((1u << cluster_m) - 1) << (in_n * cluster_m);
  constexpr int piece_1 = tile_m / cluster_n, pieces_2 = cluster_m > halves ? cluster_m : halves,
                piece_2 = tile_n / pieces_2, pairs_1 = variant::crossed && kernel_epilogue::paired ? piece_1 / 32 : 1;
  work w;
  while (todo.next(w)) {
    const int row = w.first_row + (w.tile_row + in_m) * tile_m + in_n * piece_1,
              column = (w.tile_column + in_n) * out_n;
    // A factor without a batch axis is the same for all products.
    const int batch_1 = p.first.batch == 0 ? 0 : w.batch, batch_2 = p.second.batch == 0 ? 0 : w.batch;
    for (int s = w.first; s < w.first + w.steps; ++s) {
      wait(stage.empty + stage.slot * 8, stage.phase ^ 1);
      const unsigned full = stage.full + stage.slot * 8;
      expect(full, static_cast<unsigned>(p.stage_bytes));
#pragma unroll
      for (int i = 0; i < pairs_1; ++i)
        copy<variant::by_lines_1, piece_1 / pairs_1>(
            stage.first() + (in_n * piece_1 + i * (piece_1 / pairs_1)) * variant::line_bytes, &p.first_map,
            s * (depth / variant::in_unit_1), pairs_1 == 1 ? row : row / 2 + i / 2 * 32 + i % 2 * p.n, batch_1, full,
            cluster_n > 1, static_cast<unsigned short>(beside));
#pragma unroll
      for (int i = 0; i < pieces_2 / cluster_m; ++i) {
        const int piece = cluster_m > 1 ? in_m * (pieces_2 / cluster_m) + i : i, pieces_per_half = pieces_2 / halves;
        const int from = column + piece % pieces_per_half * piece_2 + (piece >= pieces_per_half ? p.n : 0);
        copy<variant::by_lines_2, piece_2, variant::slices>(
            stage.second() + piece * piece_2 * (variant::by_lines_2 ? variant::slices : 1) * 128, &p.second_map,
            s * depth, from, batch_2, full, cluster_m > 1, static_cast<unsigned short>(above));
      }
      stage.advance();
    }
  }
}

// -- sums

// Multiplies one stage, or a part of it.
template <int From, int To>
__device__ __forceinline__ void multiply_stage(sums (&d)[blocks_m][sums_per_instruction], unsigned first,
                                               unsigned second, bool add) {
  begin_products();
#pragma unroll
  for (int i = From; i < To; ++i) {
    // An instruction reads 32 bytes of terms; if lines are contiguous, 16 terms of 64 lines.
    const unsigned at_1 = first + i * (variant::by_lines_1 ? 16 * 128 : 32),
                   at_2 = second + i * (variant::by_lines_2 ? 16 * 128 : 32);
    const unsigned long long b = descriptor<variant::by_lines_2>(at_2, depth * 128);
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
      variant::multiply(d[m], descriptor<variant::by_lines_1>(at_1 + m * 64 * 128, depth * 128), b, i > From || add);
  }
  commit_products();
}
constexpr int instructions = 4;  // instructions of a stage

// Keeps the compiler from reading the registers before this call, when the products are not yet complete.
__device__ __forceinline__ void hold(float& x) { asm volatile("" : "+f"(x)); }
__device__ __forceinline__ void hold(int& x) { asm volatile("" : "+r"(x)); }
__device__ __forceinline__ void hold(sums (&d)[blocks_m][sums_per_thread]) {
#pragma unroll
  for (int m = 0; m < blocks_m; ++m)
#pragma unroll
    for (int j = 0; j < sums_per_thread; ++j) hold(d[m][j]);
}
__device__ __forceinline__ void clear(sums (&d)[blocks_m][sums_per_thread]) {
#pragma unroll
  for (int m = 0; m < blocks_m; ++m)
#pragma unroll
    for (int j = 0; j < sums_per_thread; ++j) d[m][j] = 0;
}

// One of the warp groups that multiply.
struct consumer {
  const kernel_epilogue::all& p;
  row_map map;    // maps rows of the result to memory: see results.cuh
  unsigned out;   // shared memory for results of this group
  unsigned rank;  // number of the block in its cluster
  int group, thread, lane, warp;

  // Signals to the blocks that copy to this one that a stage was read. For mixed factors each warp signals, otherwise
  // one warp of the group.
  __device__ void release(unsigned empty, int slot) const {
    const int thread = variant::mixed ? lane : this->thread;
    if constexpr (peers == 1) {
      if (thread == 0) arrive(empty + slot * 8);
    } else if (thread < peers) {
      const int in_m = static_cast<int>(rank) % cluster_m, in_n = static_cast<int>(rank) / cluster_m;
      // First the blocks of this column, then the other blocks of this row.
      const int other = thread - cluster_m;
      const int to =
          thread < cluster_m ? in_n * cluster_m + thread : (other + (other >= in_n ? 1 : 0)) * cluster_m + in_m;
      arrive_in(empty + slot * 8, static_cast<unsigned>(to));
    }
  }
  __device__ unsigned rows_of(const pipeline& stage) const {
    return stage.first() + (has_all_rows ? 0 : group * blocks_m * 64 * variant::line_bytes);
  }

  // Computes the sums of a tile. `issued()` is called when all work of the tensor cores is issued.
  template <class Issued>
  __device__ void sum(sums (&d)[blocks_m][sums_per_thread], pipeline& stage, const work& w,
                      const Issued& issued) const {
    int before = -1;
    for (int s = 0; s < w.steps; ++s) {
      wait(stage.full + stage.slot * 8, stage.phase);
      multiply_stage<0, instructions>(d, rows_of(stage), stage.second(), s > 0);
      wait_for_products<1>();
      if (before >= 0) release(stage.empty, before);
      before = stage.slot;
      stage.advance();
    }
    issued();
    wait_for_products<0>();
    if (before >= 0) release(stage.empty, before);
    if (w.steps == 0) clear(d);
    hold(d);
  }

  // The tensor cores accumulate products of 8-bit floats at low precision, so partial sums are added to floats at
  // intervals; block scales are applied at that point.
  __device__ void sum_promoted(sums (&d)[blocks_m][sums_per_thread], pipeline& stage, const work& w) const {
    constexpr int each = variant::promoted > 0 ? variant::promoted : instructions;
    clear(d);
    for (int s = 0; s < w.steps; ++s) {
      wait(stage.full + stage.slot * 8, stage.phase);
#pragma unroll
      for (int n = 0; n < tile_n / width; ++n)
#pragma unroll
        for (int i = 0; i < instructions / each; ++i) promote<each>(d, stage, w, s, n, i);
      release(stage.empty, stage.slot);
      stage.advance();
    }
  }
  // Adds the products of `Each` instructions, for the n-th `width` columns of the tile.
  template <int Each>
  __device__ __forceinline__ void promote(sums (&d)[blocks_m][sums_per_thread], const pipeline& stage, const work& w,
                                          int s, int n, int i) const {
    sums part[blocks_m][sums_per_instruction];
    const unsigned from = i * Each * 32;
    multiply_stage<0, Each>(part, rows_of(stage) + from, stage.second() + n * width * 128 + from, false);
    number per_row[blocks_m][2], per_column[variant::column_scales];
    if constexpr (variant::scaled) {
      const int term = (w.first + s) * depth + i * Each * (depth / instructions);
      scales_of_rows(per_row, w, term);
      scales_of_columns(per_column, w, n * width, term);
    }
    wait_for_products<0>();
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int j = 0; j < sums_per_instruction; ++j) {
        hold(part[m][j]);
        sums& to = d[m][n * sums_per_instruction + j];
        if constexpr (variant::scaled)
          to += part[m][j] * (per_row[m][j / 2 % 2] * per_column[variant::column_scales == 1 ? 0 : j / 4 * 2 + j % 2]);
        else
          to += part[m][j];
      }
  }
  // Returns the scale of an element; 1 if the factor has no scales.
  template <class T>
  __device__ number scale(const block_scales& s, int batch, int line, int term) const {
    if (s.address == 0) return 1;
    const i64 at = batch * s.batch + line / s.lines * s.line + min(term, p.k - 1) / s.terms * s.term;
    return static_cast<number>(T::load(reinterpret_cast<const typename T::bits*>(s.address)[at]));
  }
  __device__ void scales_of_rows(number (&to)[blocks_m][2], const work& w, int term) const {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        to[m][i] = scale<variant::scale_type_1>(p.first_scales, w.batch, min(row_of(w, m) + i * 8, p.m - 1), term);
  }
  // Reads one scale for all columns of the tile, or one for each column of this thread.
  __device__ void scales_of_columns(number (&to)[variant::column_scales], const work& w, int from, int term) const {
#pragma unroll
    for (int j = 0; j < variant::column_scales; ++j)
      to[j] = scale<variant::scale_type_2>(
          p.second_scales, w.batch,
          variant::column_scales == 1 ? column_line(w, from) : column_line(w, from + j / 2 * 8 + lane % 4 * 2 + j % 2),
          term);
  }
  // Returns which line of the second factor is a column of the tile. The lines of the right half follow all lines of
  // the left half.
  __device__ int column_line(const work& w, int column) const {
    const int all = variant::crossed ? p.m : p.n, right = halves == 2 && column >= out_n ? 1 : 0;
    return min(column_of(w) + column - right * out_n, all - 1) + right * all;
  }

  // `row_of` returns the first row of this thread's sums in block m of 64 rows; `rows_from` returns the block's first
  // row.
  __device__ int row_of(const work& w, int m) const { return rows_from(w, m) + warp * 16 + lane / 4; }
  __device__ int rows_from(const work& w, int m) const {
    const int in_m = static_cast<int>(rank) % cluster_m;
    return w.first_row + (w.tile_row + in_m) * tile_m + ((has_all_rows ? 0 : group * blocks_m) + m) * 64;
  }
  __device__ int column_of(const work& w) const { return (w.tile_column + static_cast<int>(rank) / cluster_m) * out_n; }
  __device__ void synchronize_group() const { synchronize(1 + group, group_threads); }

  __device__ bool collect(sums (&d)[blocks_m][sums_per_thread], const work& w, volatile unsigned* broadcast) const {
    const i64 tile = (static_cast<i64>(w.slot) * cluster_m * cluster_n + rank) * (has_all_rows ? 1 : groups) +
                     (has_all_rows ? 0 : group);
    const auto all = [this] { synchronize_group(); };
    return divided_tile<group_threads, blocks_m * sums_per_thread, decltype(all)>(p, tile, w.parts, thread,
                                                                                  broadcast + group, all)
        .collect(w.part, w.may_wait, d[0]);
  }

  // -- results

  // Prefetches the epilogue's operands before the tile is multiplied: memory is slow.
  __device__ __forceinline__ void prefetch_operands(const work& w) const {
    const int column = column_of(w), count = min(out_n, p.n - column);
    for (int i = thread; i < blocks_m * 64; i += group_threads)
      if (const int row = rows_from(w, 0) + i; row < w.end_row)
        kernel_epilogue::prefetch(p, {w.batch, map.row(row), column, count});
  }

  // Returns true if all rows and columns of this group exist.
  __device__ bool is_inside(const work& w) const {
    return w.end_row - rows_from(w, 0) >= blocks_m * 64 && p.n - column_of(w) >= out_n;
  }
  // Writes results that pass through shared memory as sums. For results that pass in their own type, see
  // hopper_boxes.cuh.
  __device__ void write(sums (&d)[blocks_m][sums_per_thread], const work& w) const {
    if (is_inside(w))
      write_rows<true>(d, w);
    else
      write_rows<false>(d, w);
  }
  template <bool Inside>
  __device__ __forceinline__ void write_rows(sums (&d)[blocks_m][sums_per_thread], const work& w) const {
    sums* const staging = reinterpret_cast<sums*>(__cvta_shared_to_generic(out)) + warp * 16 * staged_width;
#pragma unroll
    for (int m = 0; m < blocks_m; ++m) {
      const int row = rows_from(w, m) + warp * 16;
      results::write_rows<results::layout<false>, Inside, variant::staged_columns / halves>(
          p, staging, lane, d[m], results::rows_of(w, row, column_of(w), (row - w.first_row) / 16), map);
    }
  }
};

// Two groups, each with its own tile, alternate: one multiplies while the other stores.
__device__ __forceinline__ void wait_for_turn(int group) { synchronize(3 + group, 2 * group_threads); }
__device__ __forceinline__ void give_turn(int group) { arrive_at_numbered(3 + (group ^ 1), 2 * group_threads); }

// A group that multiplies: computes and writes tile after tile. A template, so that names of hopper_mixed.cuh and
// hopper_boxes.cuh are looked up only where they are used.
template <class Consumer>
__device__ __forceinline__ void consume(const Consumer& me, pipeline stage, schedule todo) {
  __shared__ unsigned broadcast[variant::divides ? groups : 1];
  sums d[blocks_m][sums_per_thread];
  work w;
  if constexpr (variant::ping_pong) {
    if (me.group == 1) {
      give_turn(1);
      if (!todo.next(w)) return;
      stage.skip(w.steps);
    }
  }
  while (todo.next(w)) {
    // Divided tiles need the registers that prefetching would take.
    if constexpr (kernel_epilogue::registers > 0 && !variant::crossed && !variant::divides) me.prefetch_operands(w);
    if constexpr (variant::ping_pong) wait_for_turn(me.group);
    const auto issued = [&] {
      if constexpr (variant::ping_pong) give_turn(me.group);
    };
    if constexpr (variant::mixed) {
      sum_mixed(me, d, stage, w, issued);
    } else if constexpr (variant::promoted > 0) {
      me.sum_promoted(d, stage, w);
      issued();
    } else {
      me.sum(d, stage, w, issued);
    }
    bool complete = true;
    if constexpr (variant::splits_k) complete = gather(me, d);
    if constexpr (variant::divides)
      if (complete && w.parts > 1) complete = me.collect(d, w, broadcast);
    if (complete) {
      if constexpr (variant::crossed)
        write_crossed(me, d, w);
      else if constexpr (variant::staged)
        me.write(d, w);
      else
        write_boxes(me, d, w);
    }
    if constexpr (variant::ping_pong) {
      if (!todo.next(w)) break;
      stage.skip(w.steps);
    }
  }
  if constexpr (!variant::staged)
    if (me.thread == 0) wait_for_stores();
}

// Runs a block: one thread calls `producer(p, stage, todo, rank)`, the other groups multiply.
template <class Producer>
__device__ __forceinline__ void run_block(const kernel_epilogue::all& p, const row_map& map, const Producer& producer) {
  extern __shared__ char memory[];
  __shared__ alignas(8) unsigned long long barriers[2 * stages];
  const unsigned full = shared_address(barriers);
  pipeline stage{(shared_address(memory) + 1023) / 1024 * 1024, full, full + stages * 8};
  const int who = static_cast<int>(threadIdx.x) / group_threads;
  const unsigned rank = cluster_m * cluster_n > 1 ? block_in_cluster() : 0;
  if (threadIdx.x == 0) {
    prefetch(&p.first_map);
    prefetch(&p.second_map);
    for (int i = 0; i < stages; ++i) {
      make_barrier(stage.full + i * 8, 1);
      make_barrier(stage.empty + i * 8, (has_all_rows ? 1 : groups) * peers * (variant::mixed ? 4 : 1));
    }
    publish_barriers();
  }
  if constexpr (cluster_m * cluster_n > 1)
    synchronize_cluster();
  else
    __syncthreads();
  if (p.independent == 0) wait_for_kernel_before();
  let_next_kernel_begin();
  constexpr int blocks = cluster_m * cluster_n;
  const schedule todo = schedule_of(p, static_cast<int>(blockIdx.x) / blocks, static_cast<int>(gridDim.x) / blocks);
  if (who == 0) {
    release_registers<variant::producer_registers>();
    if (threadIdx.x == 0) producer(p, stage, todo, rank);
  } else {
    acquire_registers<variant::consumer_registers>();
    const int thread = static_cast<int>(threadIdx.x) % group_threads;
    consume(consumer{p, map, stage.data + stages * stage_bytes + static_cast<unsigned>(who - 1) * (out_bytes / groups),
                     rank, who - 1, thread, thread % 32, thread / 32},
            stage, todo);
  }
  // Other blocks may still copy to this one, or arrive at its barriers.
  if constexpr (blocks > 1) synchronize_cluster();
  // A later kernel may need the results of both this kernel and the previous one.
  if (p.independent != 0) wait_for_kernel_before();
}
// Runs a block of an ordinary product.
template <class Map = row_map>
__device__ __forceinline__ void run_block(const kernel_epilogue::all& p) {
  run_block(p, Map{}, [](const kernel_epilogue::all& all, pipeline stage, const schedule& todo, unsigned rank) {
    produce(all, stage, todo, rank);
  });
}

}  // namespace troupe::cutlass::kernels::hopper
