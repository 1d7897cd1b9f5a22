// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace troupe {

/// The order in which the elements of a dense view follow each other in memory.
enum class element_order : std::uint8_t {
  row_major,     ///< the index along the last axis changes fastest, as in C and PyTorch
  column_major,  ///< the index along the first axis changes fastest, as in Fortran, BLAS and Eigen
};

/// The positions of a matrix's elements: (i, j) is at i * row_stride + j * column_stride, in elements.
struct matrix_shape {
  std::int64_t rows = 0, columns = 0;
  std::int64_t row_stride = 0, column_stride = 0;

  constexpr matrix_shape transposed() const noexcept { return {columns, rows, column_stride, row_stride}; }
  friend constexpr bool operator==(const matrix_shape&, const matrix_shape&) noexcept = default;
};

/// The positions of a tensor's elements: (i, j, ...) is at i * strides[0] + j * strides[1] + ..., in elements.
struct tensor_shape {
  static constexpr std::size_t max_rank = 8;
  std::uint64_t rank = 0;
  std::array<std::int64_t, max_rank> extents{}, strides{};  ///< the first `rank` are used; the others are 0

  friend constexpr bool operator==(const tensor_shape&, const tensor_shape&) noexcept = default;
};

}  // namespace troupe
