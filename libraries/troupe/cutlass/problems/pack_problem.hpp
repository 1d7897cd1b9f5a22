// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/pack.hpp>
#include <troupe/cutlass/problems/problem.hpp>

namespace troupe::cutlass {

/// A packing as engines compute it: the lines (see problem.hpp) are the columns of a factor B.
struct pack_problem {
  factor from, packed;
  matmul::block_scales by;  ///< scales to write; address 0: none
  std::int64_t lines = 0;   ///< number of lines of a matrix
  std::int64_t terms = 0;   ///< number of terms of a line
  std::int64_t block = 0;   ///< number of terms that share a scale; all, if there are no scales
  std::int64_t batch = 1;   ///< number of matrices
};
pack_problem problem_of(const pack& r);

/// Returns true if elements of this type have scales.
constexpr bool is_quantized(dtype packed) noexcept {
  return packed == dtype::i8 || packed == dtype::f8e4m3 || packed == dtype::f8e5m2 || packed == dtype::f4e2m1x2;
}
constexpr bool is_packable(dtype from) noexcept {
  return from == dtype::f32 || from == dtype::f16 || from == dtype::bf16;
}

}  // namespace troupe::cutlass
