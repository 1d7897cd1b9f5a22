// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>
#include <troupe/matmul/shapes.hpp>
#include <troupe/request/checker.hpp>

/// Checks of operands for libraries that multiply matrices. Their sources include this header; their public headers do
/// not.
namespace troupe::matmul {

/// A matrix or a batch of matrices that is an operand of a request, and the address of its field.
struct operand_view {
  template <access_mode M>
  explicit operand_view(const any_operand<M>& o) noexcept : field(&o), shape(o.shape()), type(o.type()) {}
  const void* field;
  const tensor_shape& shape;
  dtype type;
};

/// Refuses operands of products whose extents are wrong. Functions that return bool return false after a refusal.
/// Extents may be 0.
class operand_check {
 public:
  explicit operand_check(checker& c) noexcept : check_(c) {}

  /// Refuses an operand because of its extents.
  void refuse(const operand_view& o, std::string_view expected);
  /// Checks that the operand has `least` to `most` axes; `expected` states these limits in the error.
  bool has_rank(const operand_view& o, std::uint64_t least, std::uint64_t most, std::string_view expected);
  /// Checks the rank of a matrix or a batch of matrices.
  bool has_rank(const operand_view& o);
  /// Checks the extents of one product. `pairs` is true if the epilogue combines the two halves of its columns.
  bool fits(const operand_view& a, const operand_view& b, const operand_view& d, bool pairs);
  /// Checks that `o` has `count` matrices, or one that all products share. `as` names the operand with `count`
  /// matrices.
  bool has_count(const operand_view& o, std::int64_t count, std::string_view as);
  /// Refuses an operand because of its number of matrices.
  void refuse_count(const operand_view& o, std::string_view expected);
  /// Checks that no sum of type `sums` can overflow: if it is i32, `a` may have at most `longest_int8_sum` columns.
  bool fits_sums(const operand_view& a, dtype sums);

 private:
  checker& check_;
};

}  // namespace troupe::matmul
