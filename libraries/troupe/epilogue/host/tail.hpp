// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/base/complex.hpp>
#include <troupe/epilogue/slots.hpp>
#include <troupe/epilogue/tree.hpp>
#include <vector>

namespace troupe::epilogue::host {

/// The memory of the result of a product.
struct result_place {
  void* data;
  dtype type;
  matrix_shape shape;
};

/// A part of the result: lines of contiguous elements. A line is a column if columns are contiguous, else a row.
struct rectangle {
  std::int64_t first_line, lines;
  std::int64_t first, count;  ///< range of elements of each line
};

/// The product of a part, contiguous within each line. `right` is used by an epilogue of pairs.
template <class N>
struct part_of_product {
  const N* left;
  const N* right;
  std::int64_t line_stride;
};

/// The contribution of a part to each reduction of the epilogue.
struct partial_reductions {
  rectangle where;
  std::vector<std::vector<double>> values;  ///< one list for each reduction, in the order of the nodes
};

/// Computes an epilogue on the host: parts of a result from parts of a product. N is the type of the sums: float,
/// double, complex64 or complex128. Different threads may compute different parts at the same time.
template <class N>
class tail {
 public:
  /// `which` is the index of the product in a batch. The tree must outlive this.
  tail(const tree& t, const result_place& to, std::int64_t which = 0);

  /// Returns true if a line is a column.
  bool lines_are_columns() const noexcept { return columns_; }
  std::int64_t lines() const noexcept { return columns_ ? to_.shape.columns : to_.shape.rows; }
  std::int64_t line_length() const noexcept { return columns_ ? to_.shape.rows : to_.shape.columns; }

  /// Computes and stores a part. The product may be in the memory of the result if both have the same type.
  partial_reductions run(const rectangle& where, const part_of_product<N>& product) const;
  /// Combines all parts, in this order, and stores the reductions.
  void finish(std::span<const partial_reductions> parts) const;

 private:
  // An operand in memory, with its strides along a line and from line to line, in elements.
  struct strided_operand {
    std::byte* data;
    dtype type;
    std::int64_t element_stride, line_stride, bytes;
    void* at(std::int64_t line, std::int64_t element) const noexcept {
      return data + (line * line_stride + element * element_stride) * bytes;
    }
  };
  struct scratch;
  strided_operand operand_of(void* data, dtype type, const matrix_shape& s) const noexcept;
  void run_piece(std::int64_t line, std::int64_t first, std::int64_t count, const part_of_product<N>& product,
                 const rectangle& whole, scratch& s, partial_reductions& out) const;
  void reduce(const node& n, const N* x, std::int64_t count, std::int64_t line, std::int64_t first,
              std::vector<double>& into) const;
  std::size_t elements_of(const node& reduce, const rectangle& r) const noexcept;
  bool is_per_line(const node& reduce) const noexcept {
    return reduce.over == (columns_ ? reduction_scope::column : reduction_scope::row);
  }

  const tree& tree_;
  result_place to_;
  bool columns_;
  strided_operand result_;
  std::vector<strided_operand> memory_;
  slots slots_;  // in scratch memory
  std::vector<const node*> reductions_;
};

extern template class tail<float>;
extern template class tail<double>;
extern template class tail<complex64>;
extern template class tail<complex128>;

}  // namespace troupe::epilogue::host
