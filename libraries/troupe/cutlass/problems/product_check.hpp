// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// Included only by the sources of cutlass.
#pragma once

#include <optional>
#include <string_view>
#include <troupe/base/text/cat.hpp>
#include <troupe/cutlass/gemm.hpp>
#include <troupe/matmul/operand_check.hpp>
#include <troupe/request/checker.hpp>

/// Checks that all requests for products share.
namespace troupe::cutlass {

using matmul::operand_view;

/// Extends operand_check with the types, scales and options of this library.
class product_check : public matmul::operand_check {
 public:
  explicit product_check(checker& c) noexcept : operand_check(c), check_(c) {}

  /// Refuses a plan that no kernel can have on any GPU.
  void options(const product_options& o);
  /// Checks the types and stores the type of the sums. Returns true if they are valid.
  bool has_types(const operand_view& a, const operand_view& b, const operand_view& d);
  /// Checks the extents of one product, and that its sums cannot overflow. Returns true if they are valid.
  bool fits(const operand_view& a, const operand_view& b, const operand_view& d, bool pairs);
  /// Checks the scales of a factor, for `batch` products. `per_line` requires a scale for each line.
  void scales(const in_any& scales, const operand_view& factor, std::int64_t batch, bool lines_are_rows,
              bool per_line = false);
  dtype sums() const noexcept { return sums_; }

 private:
  checker& check_;
  dtype sums_{};
};

}  // namespace troupe::cutlass
