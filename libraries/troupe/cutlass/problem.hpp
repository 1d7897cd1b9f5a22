// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/gemm.hpp>
#include <troupe/cutlass/gemm_batched.hpp>
#include <troupe/cutlass/gemm_grouped.hpp>
#include <troupe/epilogue/tree.hpp>
#include <troupe/matmul/shapes.hpp>

/// Products as engines compute them.
namespace troupe::cutlass {

/// A factor as lines along k: the rows of A, the columns of B. `line`, `term` and `batch` are the strides in elements
/// from line to line, along k and from matrix to matrix. An element has `terms_in(type)` terms.
struct factor {
  std::uint64_t address = 0;
  dtype type{};
  std::int64_t line = 0, term = 0, batch = 0;
};

/// The scales of a factor's blocks, with strides from block to block.
struct scales {
  std::uint64_t address = 0;  ///< 0: none
  dtype type{};
  std::int64_t line = 0, term = 0, batch = 0;
  std::int64_t lines = 1, terms = 1;  ///< extents of a block: across lines, and along k
};

/// The memory of the result or of an operand of its epilogue, with its strides in elements.
struct placed_matrix {
  std::uint64_t address = 0;
  dtype type{};
  std::int64_t row = 0, column = 0, batch = 0;
};

/// Groups of rows: the products of a batch, whose numbers of rows are in memory of the device.
struct row_groups {
  std::uint64_t sizes = 0;  ///< address of a std::int32_t for each group; 0: there are no groups
  bool packed = false;      ///< true if the rows of all groups follow each other; otherwise each group has `m` rows
};

/// D = epilogue(A * B), of extents that fit each other. With groups, `batch` is their number, and `m` is the number of
/// rows: of all groups together if they are packed, in which case rows are counted through all groups, otherwise of
/// each group. In either case an element of D or of an epilogue operand is at row * row stride + column * column stride
/// + group * batch stride.
struct problem {
  factor a, b;
  scales a_scales, b_scales;
  placed_matrix d;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;  ///< extents of the product; k in terms
  std::int64_t first = 0;                       ///< number of the first product, for the epilogue's operands
  row_groups groups;
  dtype sums{};
  bool paired = false;      ///< B has 2n columns
  bool transposed = false;  ///< true if A and B, and rows and columns of the epilogue, have changed places
  cutlass::precision precision{};
  cutlass::accumulation accumulation{};
  epilogue::tree tree;

  /// Returns the transposed problem: D' = B' * A'.
  problem swapped() const;
  /// Returns the problem with the factors exchanged but not D: rows of D are lines of the second factor.
  problem crossed() const;
  /// Returns the memory of an operand of the epilogue, with stride 0 along axes on which it does not vary.
  placed_matrix memory(std::size_t i, const epilogue::node& n) const;
};

problem problem_of(const gemm& r);
problem problem_of(const gemm_grouped& r);
/// Returns the problem of product number `i`.
problem problem_of(const gemm_batched& r, std::size_t i);

/// Returns the type in which products of these elements are summed; dtype{} if they have no product.
dtype sums_of(dtype a, dtype b) noexcept;

/// Returns how many terms share a scale if `count` scales cover `terms` terms: the least power of two, from 16 on, for
/// which that is so, or all terms. Returns 0 if there is none.
std::int64_t terms_of_block(std::int64_t terms, std::int64_t count) noexcept;

}  // namespace troupe::cutlass
