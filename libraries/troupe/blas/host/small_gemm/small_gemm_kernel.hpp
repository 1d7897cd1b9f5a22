// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The kernel for small products. Each source that includes this compiles it for its kind of processor; small_gemm.hpp
// says what must not be defined here.
#include <troupe/blas/host/small_gemm/small_gemm.hpp>
#include <troupe/blas/host/small_gemm/small_gemm_lanes.hpp>

namespace troupe::blas {
namespace {

// The size of a tile, whose sums are computed together: a number of vectors of rows by a number of columns. The sums
// stay in registers, with the rows of A and an element of B, and there are enough sums that no step waits for the
// previous one.
#if defined(__AVX512F__)
constexpr int widest = 64, most_vectors = 4;
constexpr int most_columns(int vectors) noexcept { return vectors <= 2 ? 12 : vectors == 3 ? 8 : 6; }
#elif defined(__AVX2__)
constexpr int widest = 32, most_vectors = 3;
constexpr int most_columns(int vectors) noexcept { return vectors == 1 ? 8 : vectors == 2 ? 6 : 4; }
#else
constexpr int widest = 16, most_vectors = 2;
constexpr int most_columns(int vectors) noexcept { return vectors == 1 ? 8 : 5; }
#endif

// Rows of op(A); the elements for the next k are `step` elements further.
template <class T, int Bytes>
struct panel {
  const T* rows;
  std::int64_t step;
  first_lanes<T, Bytes> last;  // mask of the last vector of rows
  std::int64_t row;            // the row of C where the panel begins
};

template <class T, int Bytes, int Vectors, int Columns, bool TurnB>
TROUPE_ALWAYS_INLINE void multiply_tile(const small_product<T>& p, const panel<T, Bytes>& a,
                                        std::int64_t column) noexcept {
  using vector = vec<T, Bytes>;
  constexpr int all = lanes<T, Bytes>;
  // Uses few pointers, so that they fit in registers.
  const std::int64_t across = TurnB ? 1 : p.ldb, down = TurnB ? p.ldb : 1, third = 3 * across;
  const T* b0 = p.b + column * across;
  const T *b4 = b0 + 4 * across, *b8 = b0 + 8 * across, *rows = a.rows;
  vector sums[Vectors][Columns] = {};
  for (std::int64_t l = 0; l < p.k; ++l) {
    vector x[Vectors];
    TROUPE_UNROLL for (int i = 0; i + 1 < Vectors; ++i) x[i] = load_all<T, Bytes>(rows + i * all);
    x[Vectors - 1] = a.last.load(rows + (Vectors - 1) * all);
    TROUPE_UNROLL for (int j = 0; j < Columns; ++j) {
      const T* const four = j < 4 ? b0 : j < 8 ? b4 : b8;
      const T factor = TurnB ? b0[j] : four[j % 4 == 3 ? third : across * (j % 4)];
      TROUPE_UNROLL for (int i = 0; i < Vectors; ++i) sums[i][j] += x[i] * factor;
    }
    rows += a.step;
    b0 += down;
    b4 += down;
    b8 += down;
  }
  T* c = p.c + a.row + column * p.ldc;
  if (p.beta == 0) {  // C is not read
    TROUPE_UNROLL for (int j = 0; j < Columns; ++j, c += p.ldc) {
      TROUPE_UNROLL for (int i = 0; i + 1 < Vectors; ++i) store_all<T, Bytes>(c + i * all, p.alpha * sums[i][j]);
      a.last.store(c + (Vectors - 1) * all, p.alpha * sums[Vectors - 1][j]);
    }
    return;
  }
  TROUPE_UNROLL for (int j = 0; j < Columns; ++j, c += p.ldc) {
    TROUPE_UNROLL for (int i = 0; i + 1 < Vectors; ++i)
        store_all<T, Bytes>(c + i * all, p.alpha * sums[i][j] + p.beta * load_all<T, Bytes>(c + i * all));
    T* const end = c + (Vectors - 1) * all;
    a.last.store(end, p.alpha * sums[Vectors - 1][j] + p.beta * a.last.load(end));
  }
}

// Computes all columns, in tiles of about equal width.
template <class T, int Bytes, int Vectors, bool TurnB>
void multiply_columns(const small_product<T>& p, const panel<T, Bytes>& a) noexcept {
  constexpr int most = most_columns(Vectors);
  std::int64_t column = 0;
  for (std::int64_t tiles = (p.n + most - 1) / most; tiles > 0; --tiles) {
    const std::int64_t columns = (p.n - column + tiles - 1) / tiles;
    switch (columns) {
#define TROUPE_TILE(COLUMNS)                                                                         \
  case COLUMNS:                                                                                      \
    if constexpr ((COLUMNS) <= most) multiply_tile<T, Bytes, Vectors, COLUMNS, TurnB>(p, a, column); \
    break;
      TROUPE_TILE(1)
      TROUPE_TILE(2)
      TROUPE_TILE(3)
      TROUPE_TILE(4)
      TROUPE_TILE(5)
      TROUPE_TILE(6)
      TROUPE_TILE(7)
      TROUPE_TILE(8)
      TROUPE_TILE(9)
      TROUPE_TILE(10)
      TROUPE_TILE(11)
      TROUPE_TILE(12)
#undef TROUPE_TILE
      default:
        __builtin_unreachable();
    }
    column += columns;
  }
}

template <class T, int Bytes, int Vectors>
TROUPE_ALWAYS_INLINE void multiply_panel(const small_product<T>& p, const panel<T, Bytes>& a) noexcept {
  p.turn_b ? multiply_columns<T, Bytes, Vectors, true>(p, a) : multiply_columns<T, Bytes, Vectors, false>(p, a);
}

// Packs at most Rows rows of op(A), which are columns of A. Lanes beyond `rows` may keep their old values.
template <class T, int Bytes, int Rows>
TROUPE_ALWAYS_INLINE void transpose_rows(const small_product<T>& p, const T* from, std::int64_t rows, T* to,
                                         std::int64_t step) noexcept {
  constexpr int all = lanes<T, Bytes>;
  for (std::int64_t l = 0; l < p.k; l += all) {
    const std::int64_t count = p.k - l < all ? p.k - l : all;
    const first_lanes<T, Bytes> these(count);
    vec<T, Bytes> x[Rows];
    TROUPE_UNROLL for (int i = 0; i < Rows; ++i) x[i] = i < rows ? these.load(from + i * p.lda + l) : vec<T, Bytes>{};
    transpose_squares<T, Bytes, Rows>(x);
    TROUPE_UNROLL for (int square = 0; square < all; square += Rows) TROUPE_UNROLL for (int i = 0; i < Rows;
                                                                                        ++i) if (square + i < count)
        __builtin_memcpy(to + (l + square + i) * step, reinterpret_cast<const T*>(&x[i]) + square, Rows * sizeof(T));
  }
}

template <class T, int Bytes, int MostVectors>
TROUPE_ALWAYS_INLINE void multiply_with(const small_product<T>& p) noexcept {
  constexpr int all = lanes<T, Bytes>;
  alignas(64) T transposed[small_extent * all * MostVectors];
  std::int64_t row = 0, vectors_left = (p.m + all - 1) / all;
  for (std::int64_t panels = (vectors_left + MostVectors - 1) / MostVectors; panels > 0; --panels) {
    const std::int64_t vectors = (vectors_left + panels - 1) / panels;
    vectors_left -= vectors;
    const std::int64_t rows = p.m - row < vectors * all ? p.m - row : vectors * all;
    panel<T, Bytes> a{p.a + row, p.lda, first_lanes<T, Bytes>(rows - (vectors - 1) * all), row};
    if (p.turn_a) {
      a.rows = transposed;
      a.step = vectors * all;
      for (std::int64_t i = 0; i < rows; i += all) {
        const std::int64_t here = rows - i < all ? rows - i : all;
        const T* const from = p.a + (row + i) * p.lda;
        if (all > 8 && here > 8)
          transpose_rows < T, Bytes, all<16 ? all : 16>(p, from, here, transposed + i, a.step);
        else if (all > 4 && here > 4)
          transpose_rows < T, Bytes, all<8 ? all : 8>(p, from, here, transposed + i, a.step);
        else if (all > 2 && here > 2)
          transpose_rows < T, Bytes, all<4 ? all : 4>(p, from, here, transposed + i, a.step);
        else
          transpose_rows<T, Bytes, 2>(p, from, here, transposed + i, a.step);
      }
    }
    switch (vectors) {
      case 1:
        multiply_panel<T, Bytes, 1>(p, a);
        break;
      case 2:
        if constexpr (MostVectors >= 2) multiply_panel<T, Bytes, 2>(p, a);
        break;
      case 3:
        if constexpr (MostVectors >= 3) multiply_panel<T, Bytes, 3>(p, a);
        break;
      default:
        if constexpr (MostVectors >= 4) multiply_panel<T, Bytes, 4>(p, a);
    }
    row += rows;
  }
}

// Uses vectors no longer than the rows need: a longer masked vector covers memory after them, and it stalls if another
// thread writes there, although that memory is not used.
template <class T>
TROUPE_ALWAYS_INLINE void multiply_now(const small_product<T>& p) noexcept {
#if defined(__AVX512F__)
  if (p.m <= lanes<T, 16>) return multiply_with<T, 16, 1>(p);
  if (p.m <= lanes<T, 32>) return multiply_with<T, 32, 1>(p);
#endif
  multiply_with<T, widest, most_vectors>(p);
}

}  // namespace
}  // namespace troupe::blas
