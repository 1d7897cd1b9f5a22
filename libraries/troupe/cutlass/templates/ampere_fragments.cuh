// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Operands of one step of a warp: read from shared memory, and widened if the factors' types differ. A lane has terms
// of line lane / 4 of each 8 lines. If a factor is widened, the terms of both factors are taken in another order: lane
// c of each four has terms 4c to 4c + 3, which are contiguous.
namespace troupe::cutlass::kernels::ampere {

constexpr bool doubles = same<variant::first, f64>;
// True if both factors are 8-bit floats that are converted to f16, because the tensor cores lack them.
constexpr bool halved =
    !mixed && !exact && (same<variant::first, e4m3> || same<variant::first, e5m2>) && !has_8_bit_floats;
// Number of terms of a step.
constexpr int step_k = exact ? 1 : doubles ? 8 : mixed ? 16 : 32 / static_cast<int>(sizeof(variant::first::bits));
constexpr int steps = variant::depth / step_k;  // steps of a stage

// A register of operands.
template <bool Exact, bool Doubles>
struct piece_of {
  using type = unsigned;
};
template <>
struct piece_of<true, false> {
  using type = float;
};
template <>
struct piece_of<false, true> {
  using type = double;
};
using piece = piece_of<exact, doubles>::type;

// True if a factor is widened.
template <class F>
constexpr bool narrow = mixed && F::size == 1;
// Registers of a block of 16 lines of the first factor, and of 8 lines of the second, before they are widened.
constexpr int pieces_1 = exact || narrow<first_factor> ? 2 : 4, pieces_2 = narrow<second_factor> ? 1 : 2;

// Reads this lane's register of 8 lines from `line` on: 4 terms of a 1-byte or 4-bit type.
template <class F>
__device__ __forceinline__ unsigned narrow_piece(unsigned at, int line, int step, int lane) {
  const unsigned from = at + F::at + (line + lane / 4) * F::pitch;
  if constexpr (F::in_unit == 2)
    return load_half_word(from + step * 8 + lane % 4 * 2);
  else
    return load_word(from + step * 16 + lane % 4 * 4);
}
template <class F>
__device__ __forceinline__ double double_piece(unsigned at, int line, int term) {
  return load_double(at + F::at + F::offset_of(line, term));
}

// Reads the operands of one block of 16 lines of the first factor.
template <class F, class Piece>
__device__ __forceinline__ void read_first(Piece (&a)[pieces_1], unsigned at, int line, int step, int lane) {
  if constexpr (doubles) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      a[i] = double_piece<F>(at, line + lane / 4 + i % 2 * 8, step * 8 + lane % 4 + i / 2 * 4);
  } else if constexpr (narrow<F>) {
    a[0] = narrow_piece<F>(at, line, step, lane), a[1] = narrow_piece<F>(at, line + 8, step, lane);
  } else if constexpr (F::stored_by_lines && F::size == 4) {
#pragma unroll
    for (int i = 0; i < 4; ++i)
      a[i] = load_word(at + F::at + F::offset_of(line + lane / 4 + i % 2 * 8, step * 8 + lane % 4 + i / 2 * 4));
  } else if constexpr (F::stored_by_lines) {
    const int in_order = lane / 16 * 8 + lane % 8, in_fours = lane % 8 / 2 * 4 + lane % 2 + lane / 16 * 2;
    load_matrices<true>(at + F::at + F::offset_of(line + lane / 8 % 2 * 8, step * 16 + (mixed ? in_fours : in_order)),
                        a[0], a[1], a[2], a[3]);
  } else if constexpr (mixed) {
    const unsigned from = at + F::at + (line + lane / 4) * F::pitch + step * 32 + lane % 4 * 8;
    load_two_words(from, a[0], a[2]);
    load_two_words(from + 8 * F::pitch, a[1], a[3]);
  } else {
    load_matrices<false>(at + F::at + (line + lane % 16) * F::pitch + step * 32 + lane / 16 * 16, a[0], a[1], a[2],
                         a[3]);
  }
}
// Reads the operands of two blocks of 8 lines of the second factor.
template <class F, class Piece>
__device__ __forceinline__ void read_second(Piece (&b)[pieces_2], Piece (&c)[pieces_2], unsigned at, int line, int step,
                                            int lane) {
  if constexpr (doubles) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      b[i] = double_piece<F>(at, line + lane / 4, step * 8 + lane % 4 + i * 4);
      c[i] = double_piece<F>(at, line + 8 + lane / 4, step * 8 + lane % 4 + i * 4);
    }
  } else if constexpr (narrow<F>) {
    b[0] = narrow_piece<F>(at, line, step, lane), c[0] = narrow_piece<F>(at, line + 8, step, lane);
  } else if constexpr (F::stored_by_lines && F::size == 4) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      b[i] = load_word(at + F::at + F::offset_of(line + lane / 4, step * 8 + lane % 4 + i * 4));
      c[i] = load_word(at + F::at + F::offset_of(line + 8 + lane / 4, step * 8 + lane % 4 + i * 4));
    }
  } else if constexpr (F::stored_by_lines) {
    const int in_order = lane / 8 % 2 * 8 + lane % 8, in_fours = lane % 8 / 2 * 4 + lane % 2 + lane / 8 % 2 * 2;
    load_matrices<true>(at + F::at + F::offset_of(line + lane / 16 * 8, step * 16 + (mixed ? in_fours : in_order)),
                        b[0], b[1], c[0], c[1]);
  } else if constexpr (mixed) {
    const unsigned from = at + F::at + (line + lane / 4) * F::pitch + step * 32 + lane % 4 * 8;
    load_two_words(from, b[0], b[1]);
    load_two_words(from + 8 * F::pitch, c[0], c[1]);
  } else {
    load_matrices<false>(at + F::at + (line + lane / 16 * 8 + lane % 8) * F::pitch + step * 32 + lane / 8 % 2 * 16,
                         b[0], b[1], c[0], c[1]);
  }
}

// The operands of a warp for one step.
template <class Piece>
struct fragments_of {
  Piece a[blocks_m][pieces_1], b[blocks_n][pieces_2];

  __device__ __forceinline__ void read(unsigned at, int line_1, int line_2, int step, int lane) {
    if constexpr (exact) {
      read_floats(at, line_1, line_2, step, lane);
    } else {
#pragma unroll
      for (int m = 0; m < blocks_m; ++m) read_first<first_factor>(a[m], at, line_1 + m * 16, step, lane);
#pragma unroll
      for (int n = 0; n < blocks_n; n += 2) read_second<second_factor>(b[n], b[n + 1], at, line_2 + n * 8, step, lane);
      if constexpr (same<variant::first, f32>) round(a), round(b);
    }
  }

 private:
  template <int Blocks, int Pieces>
  static __device__ __forceinline__ void round(Piece (&x)[Blocks][Pieces]) {
#pragma unroll
    for (int i = 0; i < Blocks * Pieces; ++i) x[i / Pieces][i % Pieces] = rounded_to_tf32(x[i / Pieces][i % Pieces]);
  }
  // Reads 4 consecutive elements of 32 lines of the first factor, and of 16 of the second: see results::layout.
  __device__ __forceinline__ void read_floats(unsigned at, int line_1, int line_2, int term, int lane) {
#pragma unroll
    for (int m = 0; m < blocks_m; m += 2)
      load_four(at + first_factor::at + first_factor::offset_of(line_1 + m * 16 + lane / 4 * 4, term), a[m][0], a[m][1],
                a[m + 1][0], a[m + 1][1]);
#pragma unroll
    for (int n = 0; n < blocks_n; n += 2)
      load_four(at + second_factor::at + second_factor::offset_of(line_2 + n * 8 + lane % 4 * 4, term), b[n][0],
                b[n][1], b[n + 1][0], b[n + 1][1]);
  }
};
using fragments = fragments_of<piece>;

using products = variant::products;

// Multiplies 16 of the 32 terms of a step. Both factors are widened alike, so the order of their terms stays the same.
template <int Half, bool Fresh, class Product, class Piece>
__device__ __forceinline__ void multiply_half(Product (&d)[blocks_m][blocks_n * 4], const fragments_of<Piece>& f) {
  unsigned b[blocks_n][2];
#pragma unroll
  for (int n = 0; n < blocks_n; ++n) widen(variant::second{}, f16{}, f.b[n][Half], b[n]);
#pragma unroll
  for (int m = 0; m < blocks_m; ++m) {
    unsigned above[2], below[2];
    widen(variant::first{}, f16{}, f.a[m][Half * 2], above);
    widen(variant::first{}, f16{}, f.a[m][Half * 2 + 1], below);
    const unsigned a[4] = {above[0], below[0], above[1], below[1]};
#pragma unroll
    for (int n = 0; n < blocks_n; ++n) multiply<Fresh && Half == 0>(f16{}, f16{}, &d[m][n * 4], a, b[n]);
  }
}

// Adds the products of a step to the sums, or (`Fresh`) sets the sums to the products.
template <bool Fresh, class Product, class Piece>
__device__ __forceinline__ void multiply(Product (&d)[blocks_m][blocks_n * 4], const fragments_of<Piece>& f) {
  if constexpr (exact) {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int n = 0; n < blocks_n; ++n)
#pragma unroll
        for (int i = 0; i < 4; ++i) d[m][n * 4 + i] = fmaf(f.a[m][i / 2], f.b[n][i % 2], d[m][n * 4 + i]);
  } else if constexpr (mixed) {
    using wide = variant::wide;
    unsigned b[blocks_n][2];
#pragma unroll
    for (int n = 0; n < blocks_n; ++n)
      if constexpr (narrow<second_factor>)
        widen(variant::second{}, wide{}, f.b[n][0], b[n]);
      else
        b[n][0] = f.b[n][0], b[n][1] = f.b[n][pieces_2 - 1];
#pragma unroll
    for (int m = 0; m < blocks_m; ++m) {
      unsigned a[4];
      if constexpr (narrow<first_factor>) {
        unsigned above[2], below[2];
        widen(variant::first{}, wide{}, f.a[m][0], above);
        widen(variant::first{}, wide{}, f.a[m][1], below);
        a[0] = above[0], a[1] = below[0], a[2] = above[1], a[3] = below[1];
      } else {
#pragma unroll
        for (int i = 0; i < 4; ++i) a[i] = f.a[m][i % pieces_1];
      }
#pragma unroll
      for (int n = 0; n < blocks_n; ++n) multiply<Fresh>(wide{}, wide{}, &d[m][n * 4], a, b[n]);
    }
  } else if constexpr (halved) {
    multiply_half<0, Fresh>(d, f);
    multiply_half<1, Fresh>(d, f);
  } else {
#pragma unroll
    for (int m = 0; m < blocks_m; ++m)
#pragma unroll
      for (int n = 0; n < blocks_n; ++n)
        multiply<Fresh>(variant::first{}, variant::second{}, &d[m][n * 4], f.a[m], f.b[n]);
  }
}

}  // namespace troupe::cutlass::kernels::ampere
