// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Products for all GPUs from sm_80 on, of all types, layouts and alignments. All warps of a block copy the factors to
// shared memory, `stages` - 1 stages ahead, and each multiplies its part of the tile. The constants of a kernel are in
// `variant`: see variants/ampere_variant.hpp.
namespace troupe::cutlass::kernels::ampere {

using number = kernel_epilogue::number;
using sums = variant::sums;

constexpr int halves = results::halves, out_n = variant::tile_n / halves, warp_out = warp_n / halves;
constexpr int stage_bytes = first_factor::bytes + second_factor::bytes;
constexpr bool any_scale = variant::promotion_k > 0;
// The register allocation for sm_100 and newer GPUs spills where that for older ones does not.
#if __CUDA_ARCH__ >= 1000
constexpr bool newer_allocation = true;
#else
constexpr bool newer_allocation = false;
#endif
constexpr bool many_sums = blocks_m * blocks_n * 4 >= 64;
// True for gathered bytes that are widened beside 64 sums, for which the newer allocation has too few registers.
constexpr bool widens_gathered = newer_allocation && variant::convolution == weight_gradient && mixed && many_sums;
// While one step is multiplied, the operands of the next step are read, if registers suffice. They do not if a thread
// also holds the coordinates of many elements that are gathered one by one, or of gathered bytes beside 64 sums; nor,
// with the newer allocation, beside 128 sums if operands are widened.
constexpr bool gathers_bytes = first_factor::size == 1 && second_factor::size == 1 && second_factor::ordinary;
constexpr bool many_coordinates =
    widens_gathered || (variant::convolution == forward && thread_items<first_factor>::count > 8) ||
    (variant::convolution == data_gradient &&
     (thread_items<first_factor>::count > 8 || (gathers_bytes && many_sums)));
constexpr bool widens_many = newer_allocation && mixed && blocks_m * blocks_n * 4 >= 128;
constexpr int buffers = any_scale || doubles || many_coordinates || widens_many ? 1 : 2;
// `scaled_bytes`: true for 8-bit floats with scales. `widened_bytes`: true if these floats are also widened to f16, and
// not transposed on the way to shared memory.
constexpr bool scaled_bytes = (first_factor::scaled || second_factor::scaled) && !exact && !mixed;
constexpr bool widened_bytes = scaled_bytes && halved && !first_factor::transposed && !second_factor::transposed;
// True if operands are read after the address of the next copy was computed, because registers do not suffice for both
// at once: for doubles; and for 64 sums that are promoted, if many words of both factors, or gathered bytes, pass
// through registers.
constexpr bool late_doubles =
    doubles && (variant::strided || (variant::convolution == weight_gradient && many_sums) ||
                (newer_allocation && variant::convolution == forward));
constexpr bool many_words = first_factor::ordinary && first_factor::words + second_factor::words >= 24;
constexpr bool late_promoted = any_scale && many_sums && second_factor::ordinary &&
                               (variant::convolution == data_gradient || (mixed && many_words));
constexpr bool reads_late = widened_bytes || late_doubles || late_promoted;
// The number of steps that are unrolled. It is limited where the assembler would otherwise read more ahead than
// registers hold: for steps of one term with many products; for scaled bytes that are widened or whose epilogue has
// operands in memory or reductions; for gathered bytes that are widened.
constexpr bool many_products = exact && steps % 8 == 0 && steps * blocks_m * blocks_n * 4 > 256;
constexpr bool many_scales =
    widened_bytes || (scaled_bytes && (kernel_epilogue::registers > 0 || kernel_epilogue::reductions > 0));
constexpr int steps_at_once = many_products ? 8 : many_scales ? 1 : widens_gathered ? 2 : steps;

// Results pass through shared memory, in the memory of the stages: as many blocks of 16 rows at a time as fit.
constexpr int result_pitch = warp_n + 8, block_bytes = 16 * result_pitch * static_cast<int>(sizeof(sums));
constexpr int result_width = warp_out % 64 == 0 ? 64 : warp_out % 32 == 0 ? 32 : warp_out % 16 == 0 ? 16 : 8;
constexpr int blocks_within(int bytes) {
  for (int blocks = blocks_m; blocks > 1; --blocks)
    if (blocks_m % blocks == 0 && blocks * block_bytes * variant::warps_m * variant::warps_n <= bytes) return blocks;
  return 1;
}
constexpr int blocks_at_once = blocks_within(variant::stages * stage_bytes);
constexpr int shared_bytes = variant::stages * stage_bytes > block_bytes* variant::warps_m* variant::warps_n
                                 ? variant::stages* stage_bytes
                                 : block_bytes* variant::warps_m* variant::warps_n;

// Copies one factor, stage after stage. Elements that pass through registers are read by `begin` and stored by `end`.
template <class F, class Scale, class Source>
struct copier {
  Source source;
  unsigned raw[F::words];
  __device__ __forceinline__ void begin(unsigned to, int stage) {
    if constexpr (!same<Source, tile_source<F>>) {
      if constexpr (F::ordinary)
        source.template fetch_to<Scale>(raw);
      else
        source.copy_to(to);
    } else if constexpr (!F::ordinary) {
      copy_stage<F>(to, source, stage);
    } else if constexpr (F::transposed) {
      fetch_squares<F>(raw, source, stage);
    } else {
      fetch<F, Scale>(raw, source, stage);
    }
  }
  __device__ __forceinline__ void end(unsigned to) {
    if constexpr (F::transposed)
      put_squares<F>(to, raw);
    else if constexpr (F::ordinary)
      put<F>(to, raw);
  }
};

// Selects the source of each factor: a matrix, or an image from which the elements are gathered.
template <int Convolution>
struct sources {
  using first = tile_source<first_factor>;
  using second = tile_source<second_factor>;
};
template <>
struct sources<forward> {
  using first = gathered_lines<first_factor>;
  using second = tile_source<second_factor>;
};
template <>
struct sources<data_gradient> {
  using first = gathered_lines<first_factor>;
  using second = gathered_k<second_factor, false, false>;
};
template <>
struct sources<weight_gradient> {
  using first = gathered_k<first_factor, true, false>;
  using second = gathered_k<second_factor, true, true>;
};
using parts_of = sources<variant::convolution>;

// The part of a tile that a warp computes.
struct warp_tile {
  const kernel_epilogue::all& p;
  const convolution_arguments& convolution;  // used by convolutions
  unsigned memory;                           // address of the stages in shared memory
  int lane, in_m, in_n;

  __device__ int row_of(const work& w) const { return w.first_row + w.tile_row * variant::tile_m + in_m * warp_m; }
  __device__ int column_of(const work& w) const { return w.tile_column * out_n + in_n * warp_out; }

  // -- sums

  // The scales of a lane's elements, for one block of terms.
  struct scales {
    float per_row[blocks_m][2], per_column[blocks_n][2];
    int row_at[blocks_m][2], column_at[blocks_n][2];  // block of lines, counted from the block of the tile's first line
    i64 first, second;                                // offsets of the scales of the tile's first line
    unsigned next_first, next_second;                 // the first term of the next block of terms
  };
  template <class Scale>
  static __device__ __forceinline__ float scale_at(const block_scales& s, i64 at) {
    return static_cast<float>(Scale::load(reinterpret_cast<const typename Scale::bits*>(s.address)[at]));
  }
  // Reads the scales of columns. The offsets of the right half's scales are computed each time, because no constant
  // stride leads to them from those of the left half.
  template <class Scale>
  __device__ __forceinline__ void load_column_scales(scales& to, const work& w, int term) const {
#pragma unroll
    for (int n = 0; n < blocks_n; ++n)
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        const int column = column_of(w) + n % (blocks_n / halves) * 8 + lane % 4 * 2 + i;
        const i64 at = to.second + to.column_at[n][i] * p.second_scales.line;
        to.per_column[n][i] = n < blocks_n / halves
                                  ? scale_at<Scale>(p.second_scales, at)
                                  : scale_of<Scale>(p.second_scales, w.batch, min(column, p.n - 1) + p.n, term);
      }
  }
  template <class Scale>
  __device__ __forceinline__ void load_row_scales(scales& to) const {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int i = 0; i < 2; ++i)
        to.per_row[m][i] = scale_at<Scale>(p.first_scales, to.first + to.row_at[m][i] * p.first_scales.line);
  }
  // Computes the offsets of the scales of the block of terms with `term`, and reads the scales.
  __device__ __forceinline__ void find_scales(scales& to, const work& w, int term) const {
    if constexpr (!same<variant::scale_1, void>) {
      const block_scales& s = p.first_scales;
      const int block = min(row_of(w), p.m - 1) / s.lines, block_of_terms = term / s.terms;
      to.first = w.batch * s.batch + block * s.line + block_of_terms * s.term;
      to.next_first = static_cast<unsigned>(block_of_terms) * s.terms + s.terms;
#pragma unroll
      for (int m = 0; m < blocks_m; ++m)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int row = min(row_of(w) + m * 16 + i * 8 + lane / 4, p.m - 1);
          to.row_at[m][i] = row / s.lines - block;
        }
      load_row_scales<variant::scale_1>(to);
    }
    if constexpr (!same<variant::scale_2, void>) {
      const block_scales& s = p.second_scales;
      const int block = min(column_of(w), p.n - 1) / s.lines, block_of_terms = term / s.terms;
      to.second = w.batch * s.batch + block * s.line + block_of_terms * s.term;
      to.next_second = static_cast<unsigned>(block_of_terms) * s.terms + s.terms;
#pragma unroll
      for (int n = 0; n < blocks_n; ++n)
#pragma unroll
        for (int i = 0; i < 2; ++i) {
          const int column = min(column_of(w) + n % (blocks_n / halves) * 8 + lane % 4 * 2 + i, p.n - 1);
          to.column_at[n][i] = column / s.lines - block;
        }
      load_column_scales<variant::scale_2>(to, w, term);
    }
  }
  // Reads the scales of the next block of terms, if `term` is in it.
  __device__ __forceinline__ void move_scales(scales& to, const work& w, unsigned term) const {
    if (term >= static_cast<unsigned>(p.k)) return;
    if constexpr (!same<variant::scale_1, void>)
      if (term >= to.next_first) {
        to.first += p.first_scales.term, to.next_first += p.first_scales.terms;
        load_row_scales<variant::scale_1>(to);
      }
    if constexpr (!same<variant::scale_2, void>)
      if (term >= to.next_second) {
        to.second += p.second_scales.term, to.next_second += p.second_scales.terms;
        load_column_scales<variant::scale_2>(to, w, static_cast<int>(term));
      }
  }
  // Adds scaled partial sums to the sums.
  static __device__ __forceinline__ void promote(sums (&d)[blocks_m][blocks_n * 4],
                                                 products (&part)[blocks_m][blocks_n * 4], const scales& s) {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int j = 0; j < blocks_n * 4; ++j) {
        float x = static_cast<float>(part[m][j]);
        if constexpr (!same<variant::scale_1, void>) x *= s.per_row[m][j / 2 % 2];
        if constexpr (!same<variant::scale_2, void>)
          d[m][j] = fmaf(x, s.per_column[j / 4][j % 2], d[m][j]);
        else
          d[m][j] += x;
        if (variant::promotion_k > variant::depth) part[m][j] = 0;
      }
  }

  // Computes the sums of this warp over the stages of `w`.
  __device__ __forceinline__ void sum(sums (&d)[blocks_m][blocks_n * 4], const work& w) const {
    constexpr int scaled_steps = any_scale ? variant::promotion_k / step_k : 1;
    copier<first_factor, variant::scale_1, parts_of::first> first{
        {convolution, p.first, p.first_scales, w.batch, w.first_row + w.tile_row * variant::tile_m, p.m, p.k, w.first}};
    copier<second_factor, variant::scale_2, parts_of::second> second{
        {convolution, p.second, p.second_scales, w.batch, w.tile_column * out_n, p.n, p.k, w.first}};
    products part[blocks_m][blocks_n * 4];  // used with scales
    clear(d);
    if constexpr (any_scale) clear(part);
    for (int s = 0; s < variant::stages - 1; ++s) {
      if (s < w.steps) {
        const unsigned to = memory + s * stage_bytes;
        first.begin(to, w.first + s), second.begin(to, w.first + s);
        first.end(to), second.end(to);
      }
      commit_copies();
    }
    wait_for_copies<variant::stages - 2>();
    __syncthreads();
    fragments f[buffers];
    scales now;
    if constexpr (any_scale)
      if (w.steps > 0) find_scales(now, w, w.first * variant::depth);
    unsigned read = memory, write = memory + (variant::stages - 1) * stage_bytes;
    // The step in which the copy of the second factor begins. Addresses of gathered elements are computed before a
    // block's products begin, if sums are promoted.
    constexpr int second_step = steps > 2 && !(any_scale && variant::convolution == data_gradient) ? 1 : 0;
    const int line_1 = in_m * warp_m, line_2 = in_n * warp_n;
    if constexpr (!reads_late) f[0].read(read, line_1, line_2, 0, lane);
    for (int s = 0; s < w.steps; ++s) {
      const bool more = s + variant::stages - 1 < w.steps;
      for (int begun = 0; begun < steps; begun += steps_at_once)
#pragma unroll
        for (int i = 0; i < steps_at_once; ++i) {
          const int q = begun + i;
          if (reads_late && q > 0) f[0].read(read, line_1, line_2, q, lane);
          if (q == steps - 1) {
            if (more) first.end(write), second.end(write);
            wait_for_copies<variant::stages - 2>();
            __syncthreads();
            write = read;
            read = read == memory + (variant::stages - 1) * stage_bytes ? memory : read + stage_bytes;
          }
          const auto read_next = [&] { f[(q + 1) % buffers].read(read, line_1, line_2, (q + 1) % steps, lane); };
          if constexpr (buffers == 2) read_next();
          const int next = w.first + s + variant::stages - 1;
          if (q == 0 && more) first.begin(write, next);
          if (q == second_step && more) second.begin(write, next);
          if (q == second_step) commit_copies();
          if (reads_late && q == 0) f[0].read(read, line_1, line_2, 0, lane);
          if constexpr (any_scale) {
            constexpr int stages_of_block = scaled_steps / steps > 0 ? scaled_steps / steps : 1;
            const int stage = w.first + s;
            // The first products of a block of terms replace the sums.
            if (scaled_steps <= steps && q % scaled_steps == 0)
              multiply<true>(part, f[q % buffers]);
            else
              multiply<false>(part, f[q % buffers]);
            if (scaled_steps <= steps ? (q + 1) % scaled_steps == 0
                                      : q == steps - 1 && ((stage + 1) % stages_of_block == 0 || s == w.steps - 1)) {
              promote(d, part, now);
              // Reads the scales of the next block long before they are used.
              move_scales(now, w, static_cast<unsigned>(stage) * variant::depth + (q + 1) * step_k);
            }
          } else {
            multiply<false>(d, f[q % buffers]);
          }
          if constexpr (buffers == 1 && !reads_late) read_next();
        }
    }
    wait_for_copies<0>();
    __syncthreads();
  }
  template <class T, int M>
  static __device__ __forceinline__ void clear(T (&d)[M][blocks_n * 4]) {
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
      for (int j = 0; j < blocks_n * 4; ++j) d[m][j] = 0;
  }

  // -- results

  __device__ __forceinline__ results::rows rows_of(const work& w, int m) const {
    const int in_warp = exact ? m / 2 * 32 + m % 2 * 2 : m * 16;
    return results::rows_of(w, row_of(w) + in_warp, column_of(w), (row_of(w) - w.first_row) / 16 + m);
  }
  template <bool Inside>
  __device__ __forceinline__ void finish(const sums* staging, const work& w, int from) const {
    for (int m = 0; m < blocks_at_once; ++m) {
      const results::rows rows = rows_of(w, from + m);
      const sums* const block = staging + m * 16 * result_pitch;
      results::reduced<results::lane_rows<result_width>::passes> parts;
      parts.start();
#pragma unroll 1
      for (int c = 0; c < warp_out; c += result_width) {
        if constexpr (variant::strided)
          results::finish<layout, Inside, result_width, result_pitch>(p, block + c, warp_out, lane, rows,
                                                                      rows.column + c, parts, image_rows{convolution});
        else
          results::finish<layout, Inside, result_width, result_pitch>(p, block + c, warp_out, lane, rows,
                                                                      rows.column + c, parts);
      }
      results::finish_parts<layout, result_width>(p, lane, rows, parts);
    }
  }
  __device__ __forceinline__ void write(const sums (&d)[blocks_m][blocks_n * 4], const work& w, sums* staging) const {
    const bool inside = w.end_row - row_of(w) >= warp_m && p.n - column_of(w) >= warp_out;
#pragma unroll
    for (int from = 0; from < blocks_m; from += blocks_at_once) {
      __syncwarp();
#pragma unroll
      for (int m = 0; m < blocks_at_once; ++m)
#pragma unroll
        for (int n = 0; n < blocks_n; ++n)
          results::stage<layout, result_pitch>(staging + m * 16 * result_pitch, lane, n, &d[from + m][n * 4]);
      __syncwarp();
      if (inside)
        finish<true>(staging, w, from);
      else
        finish<false>(staging, w, from);
    }
  }
};

// Adds the parts of a divided tile; returns true if `d` are the sums of all parts. `broadcast` is in the memory of the
// stages, which no thread reads any longer; results are staged there later.
__device__ __forceinline__ bool collect(const fixed_arguments& p, sums (&d)[blocks_m][blocks_n * 4], const work& w,
                                        unsigned* broadcast) {
  const auto all = [] { __syncthreads(); };
  const bool complete = divided_tile<block_threads, blocks_m * blocks_n * 4, decltype(all)>(
                            p, w.slot, w.parts, static_cast<int>(threadIdx.x), broadcast, all)
                            .collect(w.part, w.may_wait, d[0]);
  if (complete) __syncthreads();  // all threads have read the broadcast value
  return complete;
}

__device__ __forceinline__ void run_block(const kernel_epilogue::all& p, const convolution_arguments& convolution) {
  extern __shared__ __align__(128) char memory[];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const warp_tile me{p,
                     convolution,
                     shared_address(memory),
                     static_cast<int>(threadIdx.x) % 32,
                     warp % variant::warps_m,
                     warp / variant::warps_m};
  sums* const staging = reinterpret_cast<sums*>(memory + warp * blocks_at_once * block_bytes);
  schedule todo = schedule_of(p, static_cast<int>(blockIdx.x), static_cast<int>(gridDim.x));
  work w;
  while (todo.next(w)) {
    sums d[blocks_m][blocks_n * 4];
    me.sum(d, w);
    bool complete = true;
    if constexpr (variant::divides)
      if (w.parts > 1) complete = collect(p, d, w, reinterpret_cast<unsigned*>(memory));
    if (complete) me.write(d, w, staging);
    __syncthreads();
  }
}

}  // namespace troupe::cutlass::kernels::ampere
