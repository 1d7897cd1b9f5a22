// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/encoded_graph.hpp>
#include <vector>

namespace troupe::dnn {

/// The storage of a computed tensor: a view of memory of the graph, or of a buffer that steps share.
struct location {
  bool is_buffer = false;
  /// The index among the graph's memory, or among the plan's buffers if `is_buffer`; no_tensor if the tensor is not
  /// stored.
  std::uint16_t number = 0;
  dtype type{};
  std::int64_t offset = 0;  ///< offset of the first element, in elements
  tensor_shape shape;
  bool exists() const noexcept { return number != no_tensor; }
};

/// Returns true if the elements are contiguous, the last axis the fastest. Strides of axes with extent 1 are ignored.
inline bool is_dense(const tensor_shape& s) noexcept {
  const axis_values d = dense_strides(s);
  for (std::size_t i = 0; i < s.rank; ++i)
    if (s.extents[i] != 1 && s.strides[i] != d[i]) return false;
  return true;
}
inline bool same_extents(const tensor_shape& a, const tensor_shape& b) noexcept {
  return a.rank == b.rank && a.extents == b.extents;
}
/// Returns true if extents and strides are equal. Strides of axes with extent 1 are ignored.
inline bool same_layout(const tensor_shape& a, const tensor_shape& b) noexcept {
  for (std::size_t i = 0; i < a.rank; ++i)
    if (a.extents[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return same_extents(a, b);
}
/// Returns the strides of a tensor that is broadcast to `extents`: 0 along axes along which it is broadcast.
inline axis_values broadcast_strides(const tensor_shape& s, std::size_t rank, const axis_values& extents) noexcept {
  axis_values out{};
  for (std::size_t i = 0; i < rank && i < s.rank; ++i) out[i] = s.extents[i] == 1 && extents[i] != 1 ? 0 : s.strides[i];
  return out;
}

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
