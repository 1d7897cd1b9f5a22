// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <troupe/base/complex.hpp>
#include <troupe/epilogue/slots.hpp>
#include <troupe/epilogue/tree.hpp>
#include <vector>

namespace troupe::epilogue::host {

/// The memory that receives the result of an epilogue.
struct result_place {
  void* data;
  dtype type;
  matrix_shape shape;
};

/// A part of the result: a range of lines, and a range of elements of each line. A line is a column if the result is
/// stored column by column, otherwise a row.
struct rectangle {
  std::int64_t first_line, lines;
  std::int64_t first, count;  ///< the elements of each line
};

/// The values of the product in a part, contiguous within each line. `right` is used if the epilogue is paired.
template <class N>
struct part_of_product {
  const N* left;
  const N* right;
  std::int64_t line_stride;
};

/// The results of the epilogue's reductions for one part, which `finish` combines with those of the other parts.
struct partial_reductions {
  rectangle where;
  std::vector<std::vector<double>> values;  ///< one vector for each reduction, in the order of the nodes
};

/// Computes an epilogue on the host, part by part. N is the type in which it is computed: float, double, complex64 or
/// complex128. Several threads may compute different parts at the same time.
template <class N>
class epilogue_pass {
 public:
  /// `which` is the index of the product in a batch. The tree must outlive this object.
  epilogue_pass(const tree& t, const result_place& to, std::int64_t which = 0);

  /// Returns true if a line is a column.
  bool lines_are_columns() const noexcept { return columns_; }
  std::int64_t lines() const noexcept { return columns_ ? to_.shape.columns : to_.shape.rows; }
  std::int64_t line_length() const noexcept { return columns_ ? to_.shape.rows : to_.shape.columns; }

  /// Computes and stores a part of the result. `product` may be the memory of the result if both have type N.
  partial_reductions run(const rectangle& where, const part_of_product<N>& product) const;
  /// Combines the reductions of all parts, in this order, and stores them.
  void finish(std::span<const partial_reductions> parts) const;

 private:
  // An operand in memory. Its strides are in elements: along a line, and from one line to the next.
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
  slots slots_;
  std::vector<const node*> reductions_;
};

extern template class epilogue_pass<float>;
extern template class epilogue_pass<double>;
extern template class epilogue_pass<complex64>;
extern template class epilogue_pass<complex128>;

}  // namespace troupe::epilogue::host
