// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Copies of the factors from global memory to shared memory.
namespace troupe::cutlass::kernels::ampere {

constexpr int block_threads = variant::warps_m * variant::warps_n * 32;
// The extents of a warp's part of a tile, in elements and in blocks of 16 rows and 8 columns.
constexpr int warp_m = variant::tile_m / variant::warps_m, warp_n = variant::tile_n / variant::warps_n;
constexpr int blocks_m = warp_m / 16, blocks_n = warp_n / 8;

// `exact`: elements are multiplied one by one as floats. `mixed`: the narrower factor is widened to the other's type.
// Neither: the tensor cores multiply the types as they are.
constexpr bool exact = variant::exact, mixed = variant::mixed;

// variant::convolution
constexpr int no_convolution = 0, forward = 1, data_gradient = 2, weight_gradient = 3;

template <class A, class B>
constexpr bool same = false;
template <class A>
constexpr bool same<A, A> = true;
// The layout of sums in lanes, which determines that of the parts of reductions.
using layout = results::layout<exact>;

// A factor's part of a tile. Shared memory holds a row of terms for each line or, if `stored_by_lines`, a row of lines
// for each term. A unit is the smallest item with an address: an element, or a pair of 4-bit elements. `Shared` is the
// offset of the factor in a stage; `Chunk` is the number of bytes that are copied at once, 0 for single elements.
template <class Type, int Lines, int Shared, bool ByLines, bool Apart, int Chunk, int WarpLines, bool Paired,
          class Scale>
struct factor_in_shared_memory {
  using type = Type;
  using bits = typename Type::bits;
  static constexpr int lines = Lines, chunk = Chunk, size = sizeof(bits);
  static constexpr bool by_lines = ByLines, scattered = Apart, paired = Paired, scaled = !same<Scale, void>;
  static constexpr int in_unit = same<Type, f4x2> ? 2 : 1, units = variant::depth / in_unit;
  static constexpr int stored_size = exact ? 4 : size;
  static constexpr bool stored_by_lines = exact || (ByLines && Chunk > 0 && size > 1);
  // Rows are padded, so that elements that are read at once are in different memory banks.
  static constexpr bool in_8_bytes = !stored_by_lines && (size == 8 || (mixed && size == 2));
  static constexpr int pitch = stored_by_lines ? Lines * stored_size + (exact || size == 2 ? 16 : 32)
                                               : units * stored_size + (in_8_bytes ? 32 : 16);
  static constexpr int bytes = (stored_by_lines ? (exact ? variant::depth : units) : Lines) * pitch, at = Shared;
  // `ordinary`: elements pass through registers, because they are not aligned or must be transposed or converted.
  static constexpr bool transposed = ByLines && Chunk > 0 && size == 1 && !exact, ordinary = Chunk == 0 || transposed;
  static constexpr int words =
      !ordinary ? 1 : (Lines * (exact ? variant::depth : units) * stored_size / 4 + block_threads - 1) / block_threads;

  // Returns which line of the factor, counted from the tile's first line, is line s of the tile. If the factor has a
  // left and a right half, each warp has some lines of the left half, then as many of the right half.
  static constexpr int half = WarpLines / 2;
  static __device__ __forceinline__ int line_of(int s) { return Paired ? s / WarpLines * half + s % half : s; }
  static __device__ __forceinline__ bool is_right(int s) { return Paired && s / half % 2 != 0; }
  // Returns the offset in shared memory, in bytes.
  static __device__ __forceinline__ unsigned offset_of(int line, int unit) {
    return stored_by_lines ? unit * pitch + line * stored_size : line * pitch + unit * stored_size;
  }
};

using first_factor = factor_in_shared_memory<variant::first, variant::tile_m, 0, variant::by_lines_1,
                                             variant::scattered_1, variant::chunk_1, warp_m, false, variant::scale_1>;
using second_factor =
    factor_in_shared_memory<variant::second, variant::tile_n, first_factor::bytes, variant::by_lines_2,
                            variant::scattered_2, variant::chunk_2, warp_n, kernel_epilogue::paired, variant::scale_2>;

// The distribution of `All` copied items over threads: consecutive threads copy consecutive items, `Across` per row.
template <int Across, int All>
struct item_distribution {
  static constexpr int count = (All + block_threads - 1) / block_threads;
  // True if all items of a thread have the same position in their rows.
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

// The part of a stage that a thread copies: item i has `in_lines` lines and `in_units` units from (line(i), unit(i))
// on.
template <class F>
struct thread_items {
  static constexpr int in_chunk = F::ordinary ? 1 : F::chunk / F::size;
  static constexpr bool along_lines = F::by_lines && in_chunk > 1;
  // Units of an item that passes through registers: 4 bytes of elements, or one element that becomes a float.
  static constexpr int in_word = !F::ordinary || exact ? 1 : 4 / F::size;
  static constexpr int in_lines = along_lines ? in_chunk : 1, in_units = along_lines   ? 1
                                                                         : F::ordinary ? in_word
                                                                                       : in_chunk;
  static constexpr int lines = F::lines / in_lines, units = (exact ? variant::depth : F::units) / in_units;
  using distribution = item_distribution<F::by_lines ? lines : units, lines * units>;
  static constexpr int count = distribution::count;
  static __device__ __forceinline__ int line(int i) {
    return (F::by_lines ? distribution::inner(i) : distribution::outer(i)) * in_lines;
  }
  static __device__ __forceinline__ int unit(int i) {
    return (F::by_lines ? distribution::outer(i) : distribution::inner(i)) * in_units;
  }
  // True if the address of item i is that of item 0 plus an offset that all threads share.
  static constexpr bool regular =
      distribution::even && (F::by_lines || !F::paired || F::half % distribution::step == 0);
};

// The addresses of a factor's part of a tile.
template <class F>
struct tile_source {
  const typename F::bits* from;  // the tile's first line
  i64 line, unit;                // strides
  i64 right;                     // offset from a line of the left half to the same line of the right half
  i64 mine;                      // offset from the tile's first item to the thread's first item
  int lines;                     // number of existing lines, from the tile's first line on
  int all_units, all_k;          // numbers of units and of terms of a line
  // Used only with scales: the matrix, the tile's first line, and the offset of the right half from the left one, in
  // lines.
  const block_scales* scales;
  int batch, first, lines_of_half;

  __device__ tile_source(const convolution_arguments&, const factor& f, const block_scales& s, int b, int first_line,
                         int all_lines, int k, int stage)
      : from(reinterpret_cast<const typename F::bits*>(f.address) + b * f.batch + first_line * f.line),
        line(F::by_lines && !F::scattered ? 1 : f.line),
        unit(F::by_lines || F::scattered ? f.term : 1),
        right(all_lines * line),
        lines(all_lines - first_line),
        all_units(k / F::in_unit + k % F::in_unit),
        all_k(k),
        scales(&s),
        batch(b),
        first(first_line),
        lines_of_half(all_lines) {
    mine = offset(thread_items<F>::line(0)) + unit_of_item(0) * unit;
  }
  static __device__ __forceinline__ int unit_of_item(int i) {
    return thread_items<F>::unit(i) / (exact ? F::in_unit : 1);
  }
  // Returns the offset from `from`, in units, of line s of the tile.
  __device__ __forceinline__ i64 offset(int s) const {
    const i64 x = F::line_of(s) * line;
    return F::is_right(s) ? x + right : x;
  }
  __device__ __forceinline__ bool exists(int s) const { return F::line_of(s) < lines; }
  // Returns the offset from `from`, in units, of the thread's item i.
  __device__ __forceinline__ i64 offset_of(int i) const {
    if constexpr (!thread_items<F>::regular || (exact && F::in_unit > 1)) {
      return offset(thread_items<F>::line(i)) + unit_of_item(i) * unit;
    } else if constexpr (F::by_lines) {
      return mine + i * (thread_items<F>::distribution::step * thread_items<F>::in_units * unit);
    } else {
      constexpr int step = thread_items<F>::distribution::step * thread_items<F>::in_lines;
      return mine + offset(i * step);
    }
  }
  __device__ __forceinline__ const typename F::bits* first_of(int stage) const {
    return from + static_cast<i64>(stage) * F::units * unit;
  }
};

// Returns the scale of the block with this line and term.
template <class Scale>
__device__ __forceinline__ float scale_of(const block_scales& s, int batch, int line, int term) {
  const i64 at = batch * s.batch + line / s.lines * s.line + term / s.terms * s.term;
  return static_cast<float>(Scale::load(reinterpret_cast<const typename Scale::bits*>(s.address)[at]));
}

// Returns an element as a float, multiplied by its scale, if the element exists (`here`).
template <class F, class Scale>
__device__ __forceinline__ float number_at(const tile_source<F>& x, typename F::bits bits, bool here, int s, int term) {
  float value;
  if constexpr (F::in_unit == 2)
    value = f4::load(static_cast<unsigned char>(bits >> term % 2 * 4 & 15));
  else
    value = static_cast<float>(F::type::load(bits));
  if constexpr (!same<Scale, void>)
    if (here)
      value *=
          scale_of<Scale>(*x.scales, x.batch, x.first + F::line_of(s) + (F::is_right(s) ? x.lines_of_half : 0), term);
  return value;
}

// Returns a word with element x at position e and 0 elsewhere; exact: the bits of x as a float.
template <class F>
__device__ __forceinline__ unsigned packed_word(typename F::bits x, int e) {
  if constexpr (exact)
    return detail::bits_of(static_cast<float>(F::type::load(x)));
  else
    return (static_cast<unsigned>(x) & ((1u << F::size * 8) - 1)) << e * F::size * 8;
}

// Copies a stage, `chunk` contiguous bytes at a time.
template <class F>
__device__ __forceinline__ void copy_stage(unsigned to, const tile_source<F>& x, int stage) {
  using mine = thread_items<F>;
  const int left = x.all_units - stage * F::units;
  const typename F::bits* const from = x.first_of(stage);
#pragma unroll
  for (int i = 0; i < mine::count; ++i) {
    if (!mine::distribution::exists(i)) break;
    const int s = mine::line(i), unit = mine::unit(i);
    const int count = mine::along_lines ? (unit < left ? max(0, min(mine::in_chunk, x.lines - F::line_of(s))) : 0)
                                        : (x.exists(s) ? max(0, min(mine::in_chunk, left - unit)) : 0);
    copy<F::chunk>(to + F::at + F::offset_of(s, unit), from + x.offset_of(i), count * F::size);
  }
}
// Reads a thread's part of a stage to registers, element by element.
template <class F, class Scale>
__device__ __forceinline__ void fetch(unsigned (&raw)[F::words], const tile_source<F>& x, int stage) {
  using mine = thread_items<F>;
  const int left = x.all_units - stage * F::units;
  const typename F::bits* const first = x.first_of(stage);
#pragma unroll
  for (int i = 0; i < mine::count; ++i) {
    const int s = mine::line(i), unit = mine::unit(i);
    const bool here = mine::distribution::exists(i) && x.exists(s);
    const typename F::bits* const from = first + x.offset_of(i);
    raw[i] = 0;
    if constexpr (exact) {
      const int term = stage * variant::depth + unit;
      const bool within = here && term < x.all_k;
      raw[i] = detail::bits_of(number_at<F, Scale>(x, load_if(within, from), within, s, term));
    } else {
#pragma unroll
      for (int e = 0; e < mine::in_word; ++e)
        raw[i] |= packed_word<F>(load_if(here && unit + e < left, from + e * x.unit), e);
    }
  }
}
// Stores what `fetch` has read to shared memory.
template <class F>
__device__ __forceinline__ void put(unsigned to, const unsigned (&raw)[F::words]) {
  using mine = thread_items<F>;
#pragma unroll
  for (int i = 0; i < mine::count; ++i) {
    if (!mine::distribution::exists(i)) break;
    store_word(to + F::at + F::offset_of(mine::line(i), mine::unit(i)), raw[i]);
  }
}

// The squares of 4 lines and 4 units that a thread transposes: of 1-byte units whose lines are contiguous and aligned
// to 4 bytes.
template <class F>
struct squares {
  static constexpr int all = F::lines * F::units / 16, per_thread = (all + block_threads - 1) / block_threads;
  // 8 squares along the lines, then the next units: so reads touch few sectors and writes have few bank conflicts.
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
  for (int i = 0; i < square::per_thread; ++i) {
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
  for (int i = 0; i < square::per_thread; ++i) {
    if (square::all % block_threads != 0 && square::index(i) >= square::all) break;
#pragma unroll
    for (int e = 0; e < 4; ++e)
      store_word(to + F::at + F::offset_of(square::line(i) + e, square::unit(i)), raw[i * 4 + e]);
  }
}

}  // namespace troupe::cutlass::kernels::ampere
