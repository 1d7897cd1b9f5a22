// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How the factors get from memory to shared memory, and from there to registers.
namespace troupe::cutlass::kernels::ampere {

constexpr int block_threads = cell::warps_m * cell::warps_n * 32;
constexpr int warp_m = cell::tile_m / cell::warps_m, warp_n = cell::tile_n / cell::warps_n;  // of a warp
constexpr int blocks_m = warp_m / 16, blocks_n = warp_n / 8;

// What the numbers are multiplied by: the tensor cores, in pairs of types that they have; after one factor is widened;
// or as floats, one by one.
constexpr bool exact = cell::exact, mixed = cell::mixed;

template <class A, class B>
constexpr bool same = false;
template <class A>
constexpr bool same<A, A> = true;
// How a reduction's parts are laid out follows from how lanes have sums.
using layout = results::layout<exact>;

// A factor. Lines of the tile are held in shared memory either as rows of terms, or (`held_by_lines`) as rows of lines,
// one for each term. A unit is what has an address: a number, or a pair of numbers of 4 bits.
template <class Type, int Lines, int Shared, bool ByLines, int Chunk, int WarpLines, bool Paired, class Scale>
struct held_factor {
  using type = Type;
  using bits = typename Type::bits;
  static constexpr int lines = Lines, chunk = Chunk, size = sizeof(bits);
  static constexpr bool by_lines = ByLines, paired = Paired, scaled = !same<Scale, void>;
  static constexpr int in_unit = same<Type, f4x2> ? 2 : 1, units = cell::depth / in_unit;
  static constexpr int held_size = exact ? 4 : size;
  static constexpr bool held_by_lines = exact || (ByLines && Chunk > 0 && size > 1);
  // Rows have room at the end, so that what is read at once lies in different banks.
  static constexpr bool in_8_bytes = !held_by_lines && (size == 8 || (mixed && size == 2));
  static constexpr int pitch = held_by_lines ? Lines * held_size + (exact || size == 2 ? 16 : 32)
                                             : units * held_size + (in_8_bytes ? 32 : 16);
  static constexpr int bytes = (held_by_lines ? (exact ? cell::depth : units) : Lines) * pitch, at = Shared;
  // Whether a copy passes through registers: where neighbours are not aligned, or must be transposed or converted.
  static constexpr bool transposed = ByLines && Chunk > 0 && size == 1 && !exact, ordinary = Chunk == 0 || transposed;
  static constexpr int words = !ordinary ? 1 : (Lines * units * held_size / 4 + block_threads - 1) / block_threads;

  // Which line of the factor a line of the tile is, from the tile's first on. Pairs: those of each warp are first some
  // of the left half, then as many of the right.
  static constexpr int half = WarpLines / 2;
  static __device__ __forceinline__ int line_of(int s) {
    return Paired ? s / WarpLines * half + s % half : s;
  }
  static __device__ __forceinline__ bool is_right(int s) { return Paired && s / half % 2 != 0; }
  static __device__ __forceinline__ unsigned place_of(int line, int unit) {
    return held_by_lines ? unit * pitch + line * held_size : line * pitch + unit * held_size;
  }
};

using first_factor = held_factor<cell::first, cell::tile_m, 0, cell::by_lines_1, cell::chunk_1, warp_m, false, cell::scale_1>;
using second_factor = held_factor<cell::second, cell::tile_n, first_factor::bytes, cell::by_lines_2, cell::chunk_2, warp_n,
                                  tail::paired, cell::scale_2>;

// Where a tile's part of a factor is in memory.
template <class F>
struct tile_source {
  const typename F::bits* from;  // the tile's first line
  i64 line, unit;                // distances
  i64 right;                     // from a line of the left half to that of the right
  int lines;                     // that exist, from the tile's first on
  int all_units;                 // of a line
  // Of the scales.
  const block_scales* scales;
  int batch, first, halves;

  __device__ tile_source(const factor& f, const block_scales& s, int b, int first_line, int all_lines, int k)
      : from(reinterpret_cast<const typename F::bits*>(f.address) + b * f.batch + first_line * f.line),
        line(f.line),
        unit(f.term),
        right(all_lines * f.line),
        lines(all_lines - first_line),
        all_units(k / F::in_unit + k % F::in_unit),
        scales(&s),
        batch(b),
        first(first_line),
        halves(all_lines) {}
  // Of a line of the tile.
  __device__ __forceinline__ i64 offset(int s) const {
    const i64 x = F::line_of(s) * line;
    return F::is_right(s) ? x + right : x;
  }
  __device__ __forceinline__ bool exists(int s) const { return F::line_of(s) < lines; }
};

// Copies a stage. Neighbours are copied `chunk` bytes at a time.
template <class F>
__device__ __forceinline__ void copy_stage(unsigned to, const tile_source<F>& x, int stage) {
  constexpr int in_chunk = F::chunk / F::size;
  constexpr bool along_lines = F::by_lines && in_chunk > 1;
  constexpr int across = (along_lines ? F::lines : F::units) / in_chunk, all = F::lines * F::units / in_chunk;
  const int left = x.all_units - stage * F::units;
  const typename F::bits* const from = x.from + static_cast<i64>(stage) * F::units * (along_lines || in_chunk == 1 ? x.unit : 1);
#pragma unroll
  for (int i = 0; i < (all + block_threads - 1) / block_threads; ++i) {
    const int index = i * block_threads + static_cast<int>(threadIdx.x);
    if (all % block_threads != 0 && index >= all) break;
    if constexpr (along_lines) {
      const int unit = index / across, s = index % across * in_chunk;
      const int count = unit < left ? max(0, min(in_chunk, x.lines - F::line_of(s))) : 0;
      const i64 shift = F::line_of(s) + (F::is_right(s) ? x.right : 0);
      copy<F::chunk>(to + F::at + F::place_of(s, unit), from + (unit * x.unit + shift), count * F::size);
    } else {
      const int s = F::by_lines ? index % F::lines : index / across, unit = (F::by_lines ? index / F::lines : index % across) * in_chunk;
      const int count = x.exists(s) ? max(0, min(in_chunk, left - unit)) : 0;
      copy<F::chunk>(to + F::at + F::place_of(s, unit), from + (x.offset(s) + (in_chunk == 1 ? unit * x.unit : unit)),
                     count * F::size);
    }
  }
}

// The scale of a line's block.
template <class Scale>
__device__ __forceinline__ float scale_of(const block_scales& s, int batch, int line, int term) {
  const i64 at = batch * s.batch + line / s.lines * s.line + term / s.terms * s.term;
  return static_cast<float>(Scale::load(reinterpret_cast<const typename Scale::bits*>(s.address)[at]));
}

// One number as a float, with its scale.
template <class F, class Scale>
__device__ __forceinline__ float number_at(const tile_source<F>& x, const typename F::bits* from, int s, int term) {
  float value;
  if constexpr (F::in_unit == 2)
    value = f4::load(static_cast<unsigned char>(*from >> term % 2 * 4 & 15));
  else
    value = static_cast<float>(F::type::load(*from));
  if constexpr (!same<Scale, void>)
    value *= scale_of<Scale>(*x.scales, x.batch, x.first + F::line_of(s) + (F::is_right(s) ? x.halves : 0), term);
  return value;
}

// Reads what a thread copies of a stage, number by number.
template <class F, class Scale>
__device__ __forceinline__ void fetch(unsigned (&raw)[F::words], const tile_source<F>& x, int stage) {
  constexpr int in_word = exact ? 1 : 4 / F::size;  // units; a unit that holds two floats is two words
  constexpr int across = exact ? cell::depth : F::units / in_word, all = F::lines * across;
  const int left = x.all_units - stage * F::units;
#pragma unroll
  for (int i = 0; i < (all + block_threads - 1) / block_threads; ++i) {
    const int index = i * block_threads + static_cast<int>(threadIdx.x);
    const int s = F::by_lines ? index % F::lines : index / across, word = F::by_lines ? index / F::lines : index % across;
    raw[i] = 0;
    if ((all % block_threads != 0 && index >= all) || !x.exists(s)) continue;
    const typename F::bits* const from = x.from + x.offset(s);
    if constexpr (exact) {
      const int term = stage * cell::depth + word, unit = word / F::in_unit;
      if (unit < left)
        raw[i] = detail::bits_of(number_at<F, Scale>(x, from + (static_cast<i64>(stage) * F::units + unit) * x.unit, s, term));
    } else {
#pragma unroll
      for (int e = 0; e < in_word; ++e) {
        const int unit = word * in_word + e;
        if (unit < left)
          raw[i] |= static_cast<unsigned>(from[(static_cast<i64>(stage) * F::units + unit) * x.unit]) << e * F::size * 8;
      }
    }
  }
}
template <class F>
__device__ __forceinline__ void put(unsigned to, const unsigned (&raw)[F::words]) {
  constexpr int in_word = exact ? 1 : 4 / F::size, across = exact ? cell::depth : F::units / in_word, all = F::lines * across;
#pragma unroll
  for (int i = 0; i < (all + block_threads - 1) / block_threads; ++i) {
    const int index = i * block_threads + static_cast<int>(threadIdx.x);
    const int s = F::by_lines ? index % F::lines : index / across, word = F::by_lines ? index / F::lines : index % across;
    if (all % block_threads != 0 && index >= all) break;
    store_word(to + F::at + F::place_of(s, word * in_word), raw[i]);
  }
}

// The same for bytes whose lines are neighbours, aligned to 4: squares of 4 lines and 4 units are transposed.
template <class F>
struct squares {
  static constexpr int all = F::lines * F::units / 16, of_thread = (all + block_threads - 1) / block_threads;
  // 8 squares beside each other, then the next units: so both reading and writing meet few banks and sectors.
  static __device__ __forceinline__ int index(int i) { return i * block_threads + static_cast<int>(threadIdx.x); }
  static __device__ __forceinline__ int line(int i) { return index(i) / (2 * F::units) * 32 + index(i) % 8 * 4; }
  static __device__ __forceinline__ int unit(int i) { return index(i) / 8 % (F::units / 4) * 4; }
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
    for (int e = 0; e < 4; ++e) store_word(to + F::at + F::place_of(square::line(i) + e, square::unit(i)), raw[i * 4 + e]);
  }
}

}  // namespace troupe::cutlass::kernels::ampere
