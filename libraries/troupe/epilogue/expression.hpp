// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/base/containers/placed.hpp>
#include <troupe/epilogue/op.hpp>
#include <troupe/memory/matrix.hpp>
#include <troupe/request/encoding/records.hpp>
#include <troupe/request/operands/operand.hpp>
#include <vector>

namespace troupe::epilogue {

class tree;

/// The product, or the left or right half of its columns, as an operand of an expression.
struct product_part {
  op what;
};

/// An expression that is computed for each element of a product's result: a tree of operations on the product, on
/// numbers, and on rows, columns and matrices in memory. Made by the functions of <troupe/epilogue/epilogue.hpp>. Equal
/// subexpressions are computed once. As a field of a request, it keeps its operands in memory alive.
class expression {
 public:
  /// An operand in memory, with the buffer that owns it. Engines receive it as the `memory_operand` of tree.hpp.
  struct memory_operand {
    memory_range range;
    matrix_shape shape;
    dtype type;
    access_mode mode = access_mode::read;
    std::int64_t batch = 1;         ///< number of matrices: 1, or one for each product
    std::int64_t batch_stride = 0;  ///< elements from one matrix to the next
  };

  expression(product_part part);
  expression(double number);
  template <class N>
    requires std::is_arithmetic_v<N>
  expression(N number) : expression(static_cast<double>(number)) {}

  /// Returns the operation on these arguments. Operations on numbers by value are evaluated at once; a factor of 1 and
  /// a summand of 0 are left out, and a factor of 0 makes the product 0, whatever the other factor is.
  static expression of(op what, std::span<const expression* const> arguments);
  /// Return an expression whose last operation is a conversion, a load, a store or a reduction.
  static expression converted(const expression& x, dtype to);
  static expression reading(op what, memory_operand from);
  static expression writing(const expression& x, memory_operand to);
  static expression reducing(const expression& x, reduction how, reduction_scope over, memory_operand to);

  std::span<const node> nodes() const noexcept { return parts_->nodes; }
  std::span<const double> numbers() const noexcept { return parts_->numbers; }
  std::span<const memory_operand> memory() const noexcept { return parts_->memory; }
  /// Calls `f(range)` for the memory of each operand; `f` may replace the range.
  template <class F>
  void visit_memory(F&& f) {
    for (memory_operand& m : parts_->memory) f(m.range);
  }
  /// Returns true if the expression exceeds a limit in op.hpp. Requests with such an expression are refused.
  bool is_too_large() const noexcept { return parts_->too_large; }
  /// Returns the encoded tree. For engines only.
  tree encoded() const noexcept;

  // Called by the field_codec of expressions.
  std::size_t encoded_bytes() const noexcept;
  void encode(std::byte* to) const noexcept;
  expression(const std::byte* encoded, std::size_t bytes) noexcept;

 private:
  struct parts {
    std::vector<node> nodes;
    std::vector<double> numbers;
    std::vector<memory_operand> memory;
    bool too_large = false;
  };
  expression() noexcept = default;
  std::uint8_t add(const node& n);
  std::uint8_t add_number(double value);
  std::uint8_t add_memory(const memory_operand& m);
  std::uint8_t add_all(const expression& other);
  const double* constant() const noexcept;
  bool writes() const noexcept;

  placed<parts> parts_;                 // used in the application
  const std::byte* encoded_ = nullptr;  // used in the worker; null if the encoding is damaged
};

/// Returns the expression as text: "relu((acc + row[0]))".
std::string to_string(const expression& e);

}  // namespace troupe::epilogue

namespace troupe {

template <>
struct operands_in<epilogue::expression> : numbered_operands {
  template <class V>
  static void visit(const epilogue::expression& e, V&& f) {
    for (const auto& m : e.memory()) f(&m, m.range, bytes_of(m.type), m.mode);
  }
  /// Returns ".row[1]" for the second row in memory.
  static std::string text_of(const epilogue::expression& e, const void* place);
};

template <>
struct field_codec<epilogue::expression> : records_codec<epilogue::expression, 'E'> {};

}  // namespace troupe
