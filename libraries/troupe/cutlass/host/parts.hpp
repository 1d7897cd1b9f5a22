// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/gemm_grouped.hpp>
#include <troupe/cutlass/problems/problem.hpp>
#include <troupe/epilogue/rebound_tree.hpp>
#include <troupe/matmul/host/products.hpp>
#include <vector>

/// The products that a problem consists of, for computation on the processor.
namespace troupe::cutlass {

/// Returns product `which` of a batch. `tree`, the problem's epilogue, must outlive the product.
matmul::host_product product_of(const problem& p, std::int64_t which, const epilogue::tree& tree) noexcept;

/// The groups of rows of a problem, up to the first group of a wrong size.
class groups_of_rows {
 public:
  /// Reads the sizes of the groups.
  groups_of_rows(const problem& p, partial_results partial);
  /// Returns one group with all rows, the most that a group can have.
  static groups_of_rows largest(const problem& p);

  const grouped_outcome& outcome() const noexcept { return outcome_; }
  matmul::host_products products() const;

 private:
  struct group {
    std::int64_t number, first, size;  ///< `first`: the group's first row, counted through all groups
    epilogue::rebound_tree tree;
  };
  groups_of_rows(const problem& p, grouped_outcome outcome) noexcept : problem_(p), outcome_(outcome) {}
  void add(std::int64_t number, std::int64_t first, std::int64_t size);
  matmul::host_product product_of(const group& g) const noexcept;

  const problem& problem_;
  grouped_outcome outcome_;
  std::vector<group> groups_;
};

}  // namespace troupe::cutlass
