// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/enumeration.hpp>

/// Choices in requests of blas.
namespace troupe::blas {

/// The operation on a matrix in a product. The matrix in memory does not change.
enum class op : std::uint8_t {
  none = 0,
  transpose = 1,
  conjugate_transpose = 2,  ///< the same as `transpose` for real elements
};
TROUPE_ENUM(op, none, transpose, conjugate_transpose)

/// The half of a symmetric, Hermitian or triangular matrix that is stored, diagonal included. The other half is never
/// touched.
enum class triangle : std::uint8_t { lower = 0, upper = 1 };
TROUPE_ENUM(triangle, lower, upper)

/// The side on which the symmetric, Hermitian, triangular or diagonal matrix multiplies the other one.
enum class side : std::uint8_t { left = 0, right = 1 };
TROUPE_ENUM(side, left, right)

/// The diagonal of a triangular matrix: stored in memory, or all ones, which are not read.
enum class diagonal : std::uint8_t { stored = 0, unit = 1 };
TROUPE_ENUM(diagonal, stored, unit)

/// The least precision of products of float. An engine may be more precise: the host engine always computes in float.
enum class math_mode : std::uint8_t {
  exact = 0,   ///< precision of the compute type
  tf32 = 1,    ///< factors rounded to 10 bits of mantissa
  bf16 = 2,    ///< factors rounded to bfloat16
  f16 = 3,     ///< factors rounded to half
  bf16x9 = 4,  ///< as precise as float, from nine products of bfloat16
};
TROUPE_ENUM(math_mode, exact, tf32, bf16, f16, bf16x9)

}  // namespace troupe::blas
