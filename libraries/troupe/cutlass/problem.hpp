// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/gemm.hpp>
#include <troupe/cutlass/gemm_batched.hpp>
#include <troupe/cutlass/gemm_grouped.hpp>
#include <troupe/epilogue/tree.hpp>
#include <troupe/matmul/shapes.hpp>

/// Products as engines see them.
namespace troupe::cutlass {

/// Lines of terms: the rows of A, the columns of B. Distances in elements, each of which has `terms_in(type)` terms.
struct factor {
  std::uint64_t address = 0;
  dtype type{};
  std::int64_t line = 0, term = 0, batch = 0;
};

/// The scales of a factor's blocks, with distances from block to block.
struct scales {
  std::uint64_t address = 0;  ///< 0: none
  dtype type{};
  std::int64_t line = 0, term = 0, batch = 0;
  std::int64_t lines = 1, terms = 1;  ///< of a block
};

/// Memory of the result, or of an operand of its epilogue.
struct placed_matrix {
  std::uint64_t address = 0;
  dtype type{};
  std::int64_t row = 0, column = 0, batch = 0;
};

/// Groups of rows: each product of a batch has as many rows as a number in memory of the device says.
struct row_groups {
  std::uint64_t sizes = 0;  ///< address of a std::int32_t for each; 0: there are no groups
  bool packed = false;      ///< their rows follow each other; otherwise each has `m` rows of its own
};

/// D = epilogue(A * B), of extents that fit each other. With groups, `batch` is their number, and `m` the number of
/// rows that there are: of all groups together if they are packed, then rows are counted through all of them, and
/// otherwise of each. In either case an element lies at row * row distance + column * column distance + group * batch
/// distance, and an operand of the epilogue, too.
struct problem {
  factor a, b;
  scales a_scales, b_scales;
  placed_matrix d;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;  ///< of D; k in terms
  std::int64_t first = 0;                       ///< number of the first product, for the epilogue's operands
  row_groups groups;
  dtype sums{};
  bool paired = false;      ///< B has 2n columns
  bool transposed = false;  ///< A and B changed places, and rows and columns of the epilogue mean each other
  cutlass::precision precision{};
  cutlass::accumulation accumulation{};
  epilogue::tree tree;

  /// The same as the transpose: D' = B' * A'.
  problem swapped() const;
  /// The same with other places of the factors: rows of D are lines of the second.
  problem crossed() const;
  /// The place of an operand of the epilogue, with 0 for distances along which it is the same.
  placed_matrix memory(std::size_t i, const epilogue::node& n) const;
};

problem problem_of(const gemm& r);
problem problem_of(const gemm_grouped& r);
/// One of the products, number `i`.
problem problem_of(const gemm_batched& r, std::size_t i);

/// Returns the type in which products of these elements are summed; dtype{} if they have no product.
dtype sums_of(dtype a, dtype b) noexcept;

/// How many terms share a scale, for `terms` terms with `count` scales along them: the least power of two, from 16 on,
/// that does so, or all of them. 0: none does.
std::int64_t terms_of_block(std::int64_t terms, std::int64_t count) noexcept;

}  // namespace troupe::cutlass
