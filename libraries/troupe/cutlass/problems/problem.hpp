// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/gemm.hpp>
#include <troupe/cutlass/gemm_batched.hpp>
#include <troupe/cutlass/gemm_grouped.hpp>
#include <troupe/epilogue/tree.hpp>
#include <troupe/matmul/shapes.hpp>

/// Products as engines compute them. The words of this library:
///   line   a row of A or a column of B; the product of a row and a column is an element of the result
///   term   a value of a line, one of k; an element of f4e2m1x2 holds two, every other element one
///   block  the terms that share a scale: some terms of one line, or of as many lines
///   pair   columns j and j + n of B with 2n columns, which an epilogue with `left` and `right` combines
namespace troupe::cutlass {

/// A factor in memory, with strides in elements: between lines, along k, and between matrices. An element has
/// `k_per_element(type)` terms.
struct factor {
  std::uint64_t address = 0;
  dtype type{};
  std::int64_t line = 0, term = 0, batch = 0;
};

/// The result, or an operand of its epilogue, in memory; strides in elements.
struct placed_matrix {
  std::uint64_t address = 0;
  dtype type{};
  std::int64_t row = 0, column = 0, batch = 0;
};

/// Groups of rows: the products of a batch, whose numbers of rows are in device memory.
struct row_groups {
  std::uint64_t sizes = 0;  ///< address of a std::int32_t for each group; 0: there are no groups
  bool packed = false;      ///< true if the groups' rows are consecutive; otherwise each group has space for `m` rows
};

/// D = epilogue(A * B), whose extents were checked. With groups, `batch` is the number of groups. If they are packed,
/// `m` is the number of rows of all groups, and rows are counted through all groups; otherwise `m` is the number of
/// rows of each group. In either case, an element of D or of an epilogue operand has the offset
/// row * row stride + column * column stride + group * batch stride.
struct problem {
  factor a, b;
  matmul::block_scales a_scales, b_scales;
  placed_matrix d;
  std::int64_t m = 0, n = 0, k = 0, batch = 1;  ///< extents of the product; k in terms
  std::int64_t first = 0;                       ///< index of this product in its request, for the epilogue's operands
  row_groups groups;
  dtype sums{};
  bool paired = false;      ///< B has 2n columns
  bool transposed = false;  ///< true if A and B, and rows and columns of the epilogue, are exchanged
  product_options options;
  epilogue::tree tree;

  /// Returns the transposed problem: D' = B' * A'.
  problem swapped() const;
  /// Returns the problem with the factors exchanged but D as it is: its rows are then lines of the second factor.
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

/// Returns the number of terms that share a scale if `count` scales cover `terms` terms: the least power of two from 16
/// on of which `count` blocks cover them; all terms if `count` is 1; or 0 if no block size gives `count` blocks.
std::int64_t terms_of_block(std::int64_t terms, std::int64_t count) noexcept;

}  // namespace troupe::cutlass
