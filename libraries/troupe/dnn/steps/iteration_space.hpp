// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/encoded_graph.hpp>
#include <vector>

namespace troupe::dnn {

/// The elements of several operands, iterated together line by line. A line is the elements along the last axis.
/// Adjacent axes are collapsed into one if they can be one axis in all operands.
class iteration_space {
 public:
  iteration_space() = default;
  /// Makes a space over the extents. `strides` has the strides of each operand. If `reorder`, sorts the axes by
  /// descending strides of the first operand, so that elements of this operand are neighbors along lines.
  iteration_space(std::size_t rank, const axis_values& extents, std::vector<axis_values> strides, bool reorder = false);

  std::size_t rank() const noexcept { return rank_; }
  std::int64_t extent(std::size_t i) const noexcept { return extents_[i]; }
  std::int64_t stride(std::size_t operand, std::size_t i) const noexcept { return strides_[operand][i]; }

  std::int64_t lines() const noexcept { return lines_; }
  std::int64_t length() const noexcept { return extents_[rank_ - 1]; }
  std::int64_t line_stride(std::size_t operand) const noexcept { return strides_[operand][rank_ - 1]; }
  /// Returns the number of lines at each index of the outermost axis.
  std::int64_t lines_per_outer() const noexcept { return rank_ == 1 ? 1 : lines_ / extents_[0]; }
  std::int64_t outer_extent() const noexcept { return rank_ == 1 ? 1 : extents_[0]; }
  std::int64_t outer_stride(std::size_t operand) const noexcept { return rank_ == 1 ? 0 : strides_[operand][0]; }
  /// Returns the offset in an operand of a line's first element, in elements.
  std::int64_t begin(std::size_t operand, std::int64_t line) const noexcept {
    std::int64_t at = 0;
    for (std::size_t i = rank_ - 1; i-- > 0; line /= extents_[i]) at += line % extents_[i] * strides_[operand][i];
    return at;
  }

 private:
  std::size_t rank_ = 1;
  axis_values extents_{1};
  std::vector<axis_values> strides_;
  std::int64_t lines_ = 1;
};

}  // namespace troupe::dnn
