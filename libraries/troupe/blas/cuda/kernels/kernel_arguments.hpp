// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Arguments of the kernels in kernels.cu. Compiled by the host compiler and nvcc.
namespace troupe::blas::kernel_arguments {

/// A factor, given by value or in memory.
struct alignas(16) number {
  unsigned char value[16];
  const void* at;  ///< null: use `value`
};

enum class part : std::int32_t { whole, lower, upper, packed_lower, packed_upper };

/// C = beta * C, for a part of each matrix of a batch. Element (i, j) is at i * step + j * ld.
struct scaling {
  number beta;
  void* c;
  void* const* list;  ///< addresses of the matrices; null: they are `stride` elements apart, the first at `c`
  std::int64_t stride, batch, rows, columns, step, ld;
  part which;
  std::int32_t always;  ///< multiplies by 0 and 1 too
};

/// The type of a factor.
enum class factor : std::int32_t { f32, f64, c64, c128, i32 };
/// Keeps NaN and infinities of a product out of C if alpha is 0. Before the product, stores beta * C in `kept`; after
/// it (`restore`), sets C to `kept`, or to 0 if `kept` is null.
struct keeping {
  scaling what;
  number alpha;
  void* kept;
  factor kind;
  std::int32_t restore;
};

/// Computes C = alpha * op(A) + beta * op(B).
struct sum_of_matrices {
  number alpha, beta;
  const void *a, *b;
  void* c;
  std::int64_t m, n, lda, ldb, ldc;
  std::int32_t op_a, op_b;
};

/// y = alpha * x + y; does nothing if alpha is 0.
struct addition {
  number alpha;
  const void* x;
  void* y;
  std::int64_t n, incx, incy;
};

/// Makes the diagonal of a Hermitian matrix real.
struct diagonal {
  void* a;
  std::int64_t n, ld;
  part which;
};

/// The destinations of an answer; either can be null.
struct places {
  void *reply, *result;
};

/// A search or a sum over x, in `parts` blocks. Each block stores its partial result in `found`; if there is one block
/// only, it writes the answer.
struct reduction {
  const void* x;
  std::int64_t n, step;
  void* found;
  places to;
  std::int32_t parts, largest, backwards;
};
/// The most blocks, and the bytes of a partial result.
inline constexpr int most_parts = 512, part_bytes = 32;

struct delivery {
  const void* from;
  void* to;
  std::int32_t bytes;
};

struct rotation {
  number a, b;
  void *r, *z, *c, *s;  ///< each can be null
  void* reply;
};
struct modified_rotation {
  number d1, d2, x1, y1;
  void *new_d1, *new_d2, *new_x1, *param;  ///< each can be null
  void* reply;
};
/// Copies the five parameters of a modified rotation, and replaces a flag that is not valid.
struct flag {
  const void* from;
  void* to;
};

/// C = alpha * op(A) * op(B) + beta * C. An op is a value of blas::op, or `conjugate_op`, which does not transpose.
inline constexpr std::int32_t conjugate_op = 3;
struct product {
  number alpha, beta;
  const void *a, *b;
  void* c;
  std::int64_t m, n, k, lda, ldb, ldc;
  std::int32_t op_a, op_b;
};
struct products {
  product one;
  const product* all;  ///< null: use `one`
};
/// Rows and columns of the part of C that one block of threads computes.
inline constexpr int tile = 32;

/// C = diagonal(x) * A, or A * diagonal(x). x points to element 0, whose address is not the lowest one if `inc` is
/// negative.
struct diagonal_product {
  const void *a, *x;
  void* c;
  std::int64_t m, n, lda, inc, ldc;
  std::int32_t left;
};

/// Copies pivots to `safe`, with those that are not rows of their matrix replaced by valid ones, and marks the matrix
/// in `wrong`.
struct pivot_check {
  const std::int32_t* pivots;
  std::int32_t* safe;
  std::int32_t* wrong;  ///< an element for each matrix
  std::int64_t n, batch;
};
/// Sets the matrices that are marked in `wrong` to NaN, and their elements of `info`, if that is not null, to -1.
struct poisoning {
  void* const* list;
  const std::int32_t* wrong;
  std::int32_t* info;
  std::int64_t batch, rows, columns, ld;
};
struct copying {
  const void* const* from;
  void* const* to;
  std::int64_t batch, rows, columns, from_ld, to_ld;
};

}  // namespace troupe::blas::kernel_arguments
