// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// For the sources of libraries that multiply.
#pragma once

#include <string_view>
#include <troupe/base/cat.hpp>
#include <troupe/matmul/shapes.hpp>
#include <troupe/request/checker.hpp>

namespace troupe::matmul {

/// A matrix, or a batch of them, among the operands of a request, whatever its access.
struct operand_view {
  template <access_mode M>
  explicit operand_view(const any_operand<M>& o) noexcept : place(&o), shape(o.shape()), type(o.type()) {}
  const void* place;
  const tensor_shape& shape;
  dtype type;
};

/// Refuses operands of products whose extents are wrong. The functions return false if they have refused. An extent may
/// be 0.
class operand_check {
 public:
  explicit operand_check(checker& c) noexcept : check_(c) {}

  void refuse(const operand_view& o, std::string_view expected);
  bool has_rank(const operand_view& o, std::uint64_t least, std::uint64_t most, std::string_view expected);
  /// Of a matrix or a batch of them.
  bool has_rank(const operand_view& o);
  /// Whether the extents of one product fit each other.
  bool fits(const operand_view& a, const operand_view& b, const operand_view& d, bool pairs);
  /// Whether there are `count` matrices, or one for all.
  bool has_count(const operand_view& o, std::int64_t count, std::string_view as);
  /// Refuses an operand that has another number of matrices than are expected.
  void refuse_count(const operand_view& o, std::string_view expected);
  /// Refuses a field whose value is none of its type's.
  template <class Enum>
  void known(const Enum& field, std::string_view expected) {
    if (!is_known(field)) [[unlikely]]
      check_.refuse(&field, cat("is ", static_cast<int>(field)), expected);
  }
  /// Whether sums of this type hold the products of a row of `a`.
  bool fits_sums(const operand_view& a, dtype sums);

 private:
  checker& check_;
};

}  // namespace troupe::matmul
