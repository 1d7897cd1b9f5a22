// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <troupe/epilogue/op.hpp>
#include <troupe/request/block.hpp>
#include <troupe/request/operands/view_shape.hpp>

namespace troupe::epilogue {

/// An operand in memory of an encoded epilogue. A number, a row or a column is a matrix with one element, one row or
/// one column.
struct memory_operand {
  std::uint64_t address;
  matrix_shape shape;
  std::int64_t batch_stride;  ///< in elements; 0: all products of a batch share it
  dtype type;
  access_mode mode;
  std::uint8_t unused[6];

  /// Returns the address of an element, for product `which` of a batch. Precondition: this process can access the
  /// memory.
  void* at(std::int64_t which, std::int64_t row, std::int64_t column) const noexcept {
    const std::int64_t index = which * batch_stride + row * shape.row_stride + column * shape.column_stride;
    return reinterpret_cast<std::byte*>(address) + index * static_cast<std::int64_t>(bytes_of(type));
  }
};

/// Return true if the operand of a node has an element for each row or, for `is_wide`, for each column of the result.
constexpr bool is_tall(const node& n) noexcept {
  return n.what == op::load_column || n.what == op::load || n.what == op::store ||
         (n.what == op::reduce && n.over == reduction_scope::row);
}
constexpr bool is_wide(const node& n) noexcept {
  return n.what == op::load_row || n.what == op::load || n.what == op::store ||
         (n.what == op::reduce && n.over == reduction_scope::column);
}

/// An encoded epilogue, for engines and for the reference. The last node is the result.
class tree {
 public:
  tree() noexcept = default;
  /// Refers to an encoded tree. If the encoding is damaged, the tree has no nodes.
  tree(const std::byte* encoded, std::size_t bytes) noexcept;
  /// Refers to an encoded tree that is known to be valid.
  explicit tree(const std::byte* encoded) noexcept;

  bool empty() const noexcept { return nodes_.empty(); }
  std::span<const node> nodes() const noexcept { return nodes_; }
  std::span<const double> numbers() const noexcept { return numbers_; }
  std::span<const memory_operand> memory() const noexcept { return memory_; }
  const node& root() const noexcept { return nodes_.back(); }
  /// Returns true if the result is the product itself.
  bool is_plain() const noexcept { return nodes_.size() == 1 && root().what == op::accumulator; }
  bool is_paired() const noexcept { return epilogue::is_paired(nodes_); }

  /// The header of the encoding: how many nodes, numbers and operands in memory follow.
  struct head {
    std::uint32_t nodes, numbers, memory, reserved;
  };
  static constexpr std::size_t encoded_bytes(std::size_t nodes, std::size_t numbers, std::size_t memory) noexcept {
    return sizeof(head) + nodes * sizeof(node) + numbers * sizeof(double) + memory * sizeof(memory_operand);
  }

 private:
  bool is_sound() const noexcept;

  std::span<const node> nodes_;
  std::span<const double> numbers_;
  std::span<const memory_operand> memory_;
};

}  // namespace troupe::epilogue
