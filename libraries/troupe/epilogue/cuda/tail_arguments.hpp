// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/dtype.hpp>
#include <troupe/epilogue/op.hpp>

/// Arguments of the kernels of tail.cuh. Compiled by the host compiler and nvcc.
namespace troupe::epilogue::kernel_arguments {

inline constexpr unsigned lanes = 32, warps = 8;  ///< the threads of a block
inline constexpr unsigned ordinary_slots = 8;     ///< of the kernels for ordinary epilogues

/// A matrix, or a batch of them: the distances of its elements from row to row and from column to column, and from
/// matrix to matrix, in elements.
struct place {
  std::uint64_t address;
  std::int64_t along, across, batch;
  std::uint64_t type;  ///< a dtype
};

/// A node of the epilogue. Values live in slots.
struct step {
  op what;
  dtype type;         ///< of `convert`
  reduction combine;  ///< of `reduce`
  span_of over;       ///< of `reduce`; of the result as it is stored here
  std::uint8_t operand;
  std::uint8_t to, arguments[3];
  std::uint8_t unused[3];
};
static_assert(sizeof(step) == 12);

/// Computes an epilogue for each element of a product, which is stored column by column. The place of a reduction is
/// that of partial results, doubles, which `combining` combines:
///   of each column, and of all: one for each tile of rows and column, those of a column together
///   of each row: one for each group of columns and row, those of a group together
struct tail {
  place product, result;
  std::int64_t right;  ///< from an element of the left half of the product to that of the right half, in elements
  std::int64_t rows, columns, batch;
  std::int64_t columns_of_block;  ///< a multiple of `warps`; a group is every `warps`th column of a block
  std::uint32_t steps, unused;
  step all[most_nodes];
  double numbers[most_numbers + 1];  ///< the last is 0, the accumulator of a product without terms
  place memory[most_memory];
};

/// Combines `parts` partial results, `between_parts` apart, for each of `count` results, and stores them.
struct combining {
  const double* partial;
  std::int64_t parts, between_parts, count, between, batch, between_batches;
  place to;
  reduction combine;
};

}  // namespace troupe::epilogue::kernel_arguments
