// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies of the factors from memory to shared memory, and reads from there to registers.
namespace troupe::cutlass::kernels::ampere {

constexpr int block_threads = variant::warps_m * variant::warps_n * 32;
// Extents of a warp
constexpr int warp_m = variant::tile_m / variant::warps_m, warp_n = variant::tile_n / variant::warps_n;
constexpr int blocks_m = warp_m / 16, blocks_n = warp_n / 8;

// Type in which numbers are multiplied: by the tensor cores, in pairs of types that they have; after one factor is
// widened; or as floats, one by one.
constexpr bool exact = variant::exact, mixed = variant::mixed;

// variant::convolution
constexpr int no_convolution = 0, forward = 1, data_gradient = 2, weight_gradient = 3;

template <class A, class B>
constexpr bool same = false;
template <class A>
constexpr bool same<A, A> = true;
// The layout of sums in lanes determines that of a reduction's parts.
using layout = results::layout<exact>;

// A factor. Lines of the tile are held in shared memory either as rows of terms, or (`held_by_lines`) as rows of lines,
// one for each term. A unit is what has an address: a number, or a pair of numbers of 4 bits.
template <class Type, int Lines, int Shared, bool ByLines, bool Apart, int Chunk, int WarpLines, bool Paired,
          class Scale>
struct held_factor {
  using type = Type;
  using bits = typename Type::bits;
  static constexpr int lines = Lines, chunk = Chunk, size = sizeof(bits);
  static constexpr bool by_lines = ByLines, apart = Apart, paired = Paired, scaled = !same<Scale, void>;
  static constexpr int in_unit = same<Type, f4x2> ? 2 : 1, units = variant::depth / in_unit;
  static constexpr int held_size = exact ? 4 : size;
  static constexpr bool held_by_lines = exact || (ByLines && Chunk > 0 && size > 1);
  // Rows are padded, so that elements that are read at once are in different banks.
  static constexpr bool in_8_bytes = !held_by_lines && (size == 8 || (mixed && size == 2));
  static constexpr int pitch =
      held_by_lines ? Lines * held_size + (exact || size == 2 ? 16 : 32) : units * held_size + (in_8_bytes ? 32 : 16);
  static constexpr int bytes = (held_by_lines ? (exact ? variant::depth : units) : Lines) * pitch, at = Shared;
  // True if a copy passes through registers: where contiguous elements are not aligned, or must be transposed or
  // converted.
  static constexpr bool transposed = ByLines && Chunk > 0 && size == 1 && !exact, ordinary = Chunk == 0 || transposed;
  static constexpr int words =
      !ordinary ? 1 : (Lines * (exact ? variant::depth : units) * held_size / 4 + block_threads - 1) / block_threads;

  // Returns the line of the factor for a line of the tile, counted from the tile's first. Pairs: those of each warp are
  // first some of the left half, then as many of the right.
  static constexpr int half = WarpLines / 2;
  static __device__ __forceinline__ int line_of(int s) { return Paired ? s / WarpLines * half + s % half : s; }
  static __device__ __forceinline__ bool is_right(int s) { return Paired && s / half % 2 != 0; }
  static __device__ __forceinline__ unsigned place_of(int line, int unit) {
    return held_by_lines ? unit * pitch + line * held_size : line * pitch + unit * held_size;
  }
};

using first_factor = held_factor<variant::first, variant::tile_m, 0, variant::by_lines_1, variant::apart_1,
                                 variant::chunk_1, warp_m, false, variant::scale_1>;
using second_factor = held_factor<variant::second, variant::tile_n, first_factor::bytes, variant::by_lines_2,
                                  variant::apart_2, variant::chunk_2, warp_n, tail::paired, variant::scale_2>;

// Distribution of copied items over threads: consecutive items, `Across` of them in each row.
template <int Across, int All>
struct spread {
  static constexpr int count = (All + block_threads - 1) / block_threads;
  // If so, a thread always has the same position within `Across`.
  static constexpr bool even = block_threads % Across == 0;
  static constexpr int step = even ? block_threads / Across : 0;
  static __device__ __forceinline__ bool exists(int i) {
    return All % block_threads == 0 || i * block_threads + threadIdx.x < All;
  }
  static __device__ __forceinline__ int inner(int i) {
    return static_cast<int>((even ? threadIdx.x : i * block_threads + threadIdx.x) % Across);
  }
  static __device__ __forceinline__ int outer(int i) {
    return even ? static_cast<int>(threadIdx.x / Across) + i * step
                : static_cast<int>((i * block_threads + threadIdx.x) / Across);
  }
};

// Part of a stage that a thread copies: item i has `in_lines` lines and `in_units` units from (line(i), unit(i)) on.
template <class F>
struct share {
  static constexpr int in_chunk = F::ordinary ? 1 : F::chunk / F::size;
  static constexpr bool along_lines = F::by_lines && in_chunk > 1;
  // One term of a float, or the units of 4 bytes, where numbers pass through registers.
  static constexpr int in_word = !F::ordinary || exact ? 1 : 4 / F::size;
  static constexpr int in_lines = along_lines ? in_chunk : 1, in_units = along_lines   ? 1
                                                                         : F::ordinary ? in_word
                                                                                       : in_chunk;
  static constexpr int lines = F::lines / in_lines, units = (exact ? variant::depth : F::units) / in_units;
  using spread_items = spread<F::by_lines ? lines : units, lines * units>;
  static constexpr int count = spread_items::count;
  static __device__ __forceinline__ int line(int i) {
    return (F::by_lines ? spread_items::inner(i) : spread_items::outer(i)) * in_lines;
  }
  static __device__ __forceinline__ int unit(int i) {
    return (F::by_lines ? spread_items::outer(i) : spread_items::inner(i)) * in_units;
  }
  // True if the address of item i is that of item 0 plus an offset that all threads share.
  static constexpr bool regular =
      spread_items::even && (F::by_lines || !F::paired || F::half % spread_items::step == 0);
};

// Address and strides of a tile's part of a factor.
template <class F>
struct tile_source {
  const typename F::bits* from;  // the tile's first line
  i64 line, unit;                // strides
  i64 right;                     // offset from a line of the left half to that of the right
  i64 mine;                      // offset from the tile's first to the thread's first
  int lines;                     // existing lines, from the tile's first on
  int all_units, all_k;          // in a line
  // Fields of the scales.
  const block_scales* scales;
  int batch, first, halves;

  __device__ tile_source(const window&, const factor& f, const block_scales& s, int b, int first_line, int all_lines,
                         int k, int stage)
      : from(reinterpret_cast<const typename F::bits*>(f.address) + b * f.batch + first_line * f.line),
        line(F::by_lines && !F::apart ? 1 : f.line),
        unit(F::by_lines || F::apart ? f.term : 1),
        right(all_lines * line),
        lines(all_lines - first_line),
        all_units(k / F::in_unit + k % F::in_unit),
        all_k(k),
        scales(&s),
        batch(b),
        first(first_line),
        halves(all_lines) {
    mine = offset(share<F>::line(0)) + unit_of_item(0) * unit;
  }
  static __device__ __forceinline__ int unit_of_item(int i) { return share<F>::unit(i) / (exact ? F::in_unit : 1); }
  // Returns the address of a line of the tile.
  __device__ __forceinline__ i64 offset(int s) const {
    const i64 x = F::line_of(s) * line;
    return F::is_right(s) ? x + right : x;
  }
  __device__ __forceinline__ bool exists(int s) const { return F::line_of(s) < lines; }
  // Returns the address of a thread's item.
  __device__ __forceinline__ i64 place_of(int i) const {
    if constexpr (!share<F>::regular || (exact && F::in_unit > 1)) {
      return offset(share<F>::line(i)) + unit_of_item(i) * unit;
    } else if constexpr (F::by_lines) {
      return mine + i * (share<F>::spread_items::step * share<F>::in_units * unit);
    } else {
      constexpr int step = share<F>::spread_items::step * share<F>::in_lines;
      return mine + offset(i * step);
    }
  }
  __device__ __forceinline__ const typename F::bits* first_of(int stage) const {
    return from + static_cast<i64>(stage) * F::units * unit;
  }
};

// Returns the scale of a line's block.
template <class Scale>
__device__ __forceinline__ float scale_of(const block_scales& s, int batch, int line, int term) {
  const i64 at = batch * s.batch + line / s.lines * s.line + term / s.terms * s.term;
  return static_cast<float>(Scale::load(reinterpret_cast<const typename Scale::bits*>(s.address)[at]));
}

// Returns a number as a float, multiplied by its scale, if there is one here.
template <class F, class Scale>
__device__ __forceinline__ float number_at(const tile_source<F>& x, typename F::bits bits, bool here, int s, int term) {
  float value;
  if constexpr (F::in_unit == 2)
    value = f4::load(static_cast<unsigned char>(bits >> term % 2 * 4 & 15));
  else
    value = static_cast<float>(F::type::load(bits));
  if constexpr (!same<Scale, void>)
    if (here)
      value *= scale_of<Scale>(*x.scales, x.batch, x.first + F::line_of(s) + (F::is_right(s) ? x.halves : 0), term);
  return value;
}

// Returns one of the numbers in a word.
template <class F>
__device__ __forceinline__ unsigned held_word(typename F::bits x, int e) {
  if constexpr (exact)
    return detail::bits_of(static_cast<float>(F::type::load(x)));
  else
    return (static_cast<unsigned>(x) & ((1u << F::size * 8) - 1)) << e * F::size * 8;
}

// Copies a stage, `chunk` contiguous bytes at a time.
template <class F>
__device__ __forceinline__ void copy_stage(unsigned to, const tile_source<F>& x, int stage) {
  using mine = share<F>;
  const int left = x.all_units - stage * F::units;
  const typename F::bits* const from = x.first_of(stage);
#pragma unroll
  for (int i = 0; i < mine::count; ++i) {
    if (!mine::spread_items::exists(i)) break;
    const int s = mine::line(i), unit = mine::unit(i);
    const int count = mine::along_lines ? (unit < left ? max(0, min(mine::in_chunk, x.lines - F::line_of(s))) : 0)
                                        : (x.exists(s) ? max(0, min(mine::in_chunk, left - unit)) : 0);
    copy<F::chunk>(to + F::at + F::place_of(s, unit), from + x.place_of(i), count * F::size);
  }
}
// Reads a thread's part of a stage, number by number.
template <class F, class Scale>
__device__ __forceinline__ void fetch(unsigned (&raw)[F::words], const tile_source<F>& x, int stage) {
  using mine = share<F>;
  const int left = x.all_units - stage * F::units;
  const typename F::bits* const first = x.first_of(stage);
#pragma unroll
  for (int i = 0; i < mine::count; ++i) {
    const int s = mine::line(i), unit = mine::unit(i);
    const bool here = mine::spread_items::exists(i) && x.exists(s);
    const typename F::bits* const from = first + x.place_of(i);
    raw[i] = 0;
    if constexpr (exact) {
      const int term = stage * variant::depth + unit;
      const bool within = here && term < x.all_k;
      raw[i] = detail::bits_of(number_at<F, Scale>(x, load_if(within, from), within, s, term));
    } else {
#pragma unroll
      for (int e = 0; e < mine::in_word; ++e)
        raw[i] |= held_word<F>(load_if(here && unit + e < left, from + e * x.unit), e);
    }
  }
}
template <class F>
__device__ __forceinline__ void put(unsigned to, const unsigned (&raw)[F::words]) {
  using mine = share<F>;
#pragma unroll
  for (int i = 0; i < mine::count; ++i) {
    if (!mine::spread_items::exists(i)) break;
    store_word(to + F::at + F::place_of(mine::line(i), mine::unit(i)), raw[i]);
  }
}

// Reads bytes whose lines are contiguous, aligned to 4: squares of 4 lines and 4 units are transposed.
template <class F>
struct squares {
  static constexpr int all = F::lines * F::units / 16, of_thread = (all + block_threads - 1) / block_threads;
  // 8 squares in a row, then the next units: so both reading and writing have few bank conflicts and sectors.
  static __device__ __forceinline__ unsigned index(int i) { return i * block_threads + threadIdx.x; }
  static __device__ __forceinline__ int line(int i) {
    return static_cast<int>(index(i) / (2 * F::units) * 32 + index(i) % 8 * 4);
  }
  static __device__ __forceinline__ int unit(int i) { return static_cast<int>(index(i) / 8 % (F::units / 4) * 4); }
};
template <class F>
__device__ __forceinline__ void fetch_squares(unsigned (&raw)[F::words], const tile_source<F>& x, int stage) {
  using square = squares<F>;
  const int left = x.all_units - stage * F::units;
#pragma unroll
  for (int i = 0; i < square::of_thread; ++i) {
    const int s = square::line(i), unit = square::unit(i), count = x.lines - F::line_of(s);
    const bool here = square::all % block_threads == 0 || square::index(i) < square::all;
    const unsigned char* const from = reinterpret_cast<const unsigned char*>(x.from) +
                                      (static_cast<i64>(stage) * F::units + unit) * x.unit + F::line_of(s) +
                                      (F::is_right(s) ? x.right : 0);
    unsigned row[4] = {0, 0, 0, 0};
#pragma unroll
    for (int u = 0; u < 4; ++u) {
      if (!here || unit + u >= left) continue;
      if (count >= 4) {
        row[u] = *reinterpret_cast<const unsigned*>(from + u * x.unit);
      } else {
#pragma unroll 1
        for (int e = 0; e < count; ++e) row[u] |= static_cast<unsigned>(from[u * x.unit + e]) << 8 * e;
      }
    }
    const unsigned low_0 = __byte_perm(row[0], row[1], 0x5140), low_1 = __byte_perm(row[2], row[3], 0x5140);
    const unsigned high_0 = __byte_perm(row[0], row[1], 0x7362), high_1 = __byte_perm(row[2], row[3], 0x7362);
    raw[i * 4] = __byte_perm(low_0, low_1, 0x5410), raw[i * 4 + 1] = __byte_perm(low_0, low_1, 0x7632);
    raw[i * 4 + 2] = __byte_perm(high_0, high_1, 0x5410), raw[i * 4 + 3] = __byte_perm(high_0, high_1, 0x7632);
  }
}
template <class F>
__device__ __forceinline__ void put_squares(unsigned to, const unsigned (&raw)[F::words]) {
  using square = squares<F>;
#pragma unroll
  for (int i = 0; i < square::of_thread; ++i) {
    if (square::all % block_threads != 0 && square::index(i) >= square::all) break;
#pragma unroll
    for (int e = 0; e < 4; ++e)
      store_word(to + F::at + F::place_of(square::line(i) + e, square::unit(i)), raw[i * 4 + e]);
  }
}

}  // namespace troupe::cutlass::kernels::ampere
