// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/gpu/matrix_copies.hpp>
#include <bench/gpu/raw_side.hpp>
#include <bench/gpu/turns.hpp>

namespace troupe::bench {

/// Both sides of a comparison of products, with the same data: D = A * B^T.
class product_pair {
 public:
  product_pair(const settings& s, const device& on, const raw_matmul_problem& p);

  in_any a(int which) const { return a_.matrix(which); }
  in_any b(int which) const { return b_.transposed(which); }
  out_any d(int which) const { return d_.matrix<out_any>(which); }
  /// Returns the row that the raw side adds, if its epilogue has a bias.
  in_any bias() const { return third_.matrix(0); }
  /// Returns the epilogue that the raw side computes.
  epilogue::expression epilogue(int which) const;
  double operations() const noexcept { return 2. * problem.m * problem.rows_of_b() * problem.k; }
  /// Returns how the results of a product that both sides have computed differ, or "".
  std::string difference(int which = 0) const;

  const device gpu;
  const raw_matmul_problem problem;

 private:
  const std::vector<std::byte> x_, y_, z_;
  raw_side raw_;
  matrix_copies a_, b_, d_, third_, second_, scale_;

 public:
  std::unique_ptr<raw_matmuls> bare;  // declared after raw_side, which it needs
};

}  // namespace troupe::bench
