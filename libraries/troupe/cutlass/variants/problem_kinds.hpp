// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/cutlass/problems/convolution_problem.hpp>
#include <troupe/epilogue/rebound_tree.hpp>

/// What the choice of a plan may depend on: what `write_key` writes of a problem, and the options of a request beside.
/// Addresses only have their remainders modulo 16, and all numbers of the epilogue are 1.
namespace troupe::cutlass {

class product_kind {
 public:
  /// Precondition: `p` is not transposed.
  explicit product_kind(const problem& p);
  product_kind(const product_kind&) = delete;
  const problem& get() const noexcept { return problem_; }

 private:
  problem problem_;
  epilogue::rebound_tree tree_;
};

class convolution_problem_kind {
 public:
  explicit convolution_problem_kind(const convolution_problem& p);
  convolution_problem_kind(const convolution_problem_kind&) = delete;
  const convolution_problem& get() const noexcept { return problem_; }

 private:
  convolution_problem problem_;
  epilogue::rebound_tree tree_;
};

/// Appends the extents, strides, alignments, types, precision and epilogue structure of a problem to a cache key.
void write_key(std::string& to, const problem& p);
void write_key(std::string& to, const convolution_problem& p);

}  // namespace troupe::cutlass
