// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/encoded_graph.hpp>
#include <vector>

namespace troupe::dnn {

/// Where a tensor is, once it is computed: a view of memory of the graph, or of a buffer between operations.
struct location {
  bool is_buffer = false;
  std::uint16_t number = 0;  ///< of the memory, or of the buffer; no_tensor: it is nowhere
  dtype type{};
  std::int64_t offset = 0;  ///< elements
  tensor_shape shape;
  bool exists() const noexcept { return number != no_tensor; }
};

/// Whether the elements lie without gaps, the last index the fastest. The stride of an index with extent 1 does not
/// matter.
inline bool is_dense(const tensor_shape& s) noexcept {
  const axis_values d = dense_strides(s);
  for (std::size_t i = 0; i < s.rank; ++i)
    if (s.extents[i] != 1 && s.strides[i] != d[i]) return false;
  return true;
}
inline bool same_extents(const tensor_shape& a, const tensor_shape& b) noexcept {
  return a.rank == b.rank && a.extents == b.extents;
}
/// Whether the same elements lie at the same places.
inline bool lies_alike(const tensor_shape& a, const tensor_shape& b) noexcept {
  for (std::size_t i = 0; i < a.rank; ++i)
    if (a.extents[i] != 1 && a.strides[i] != b.strides[i]) return false;
  return same_extents(a, b);
}
/// The strides with which a tensor is walked along with one of these extents: 0 where its one element is used for all.
inline axis_values broadcast_strides(const tensor_shape& s, std::size_t rank, const axis_values& extents) noexcept {
  axis_values out{};
  for (std::size_t i = 0; i < rank && i < s.rank; ++i) out[i] = s.extents[i] == 1 && extents[i] != 1 ? 0 : s.strides[i];
  return out;
}

/// The elements of some operands, walked together line by line. Indexes that all operands walk without a gap are one.
class iteration_space {
 public:
  iteration_space() = default;
  /// `strides` of each operand. With `reorder`, lines run where the first operand's elements are neighbours.
  iteration_space(std::size_t rank, const axis_values& extents, std::vector<axis_values> strides, bool reorder = false);

  std::size_t rank() const noexcept { return rank_; }
  std::int64_t extent(std::size_t i) const noexcept { return extents_[i]; }
  std::int64_t stride(std::size_t operand, std::size_t i) const noexcept { return strides_[operand][i]; }

  std::int64_t lines() const noexcept { return lines_; }
  std::int64_t length() const noexcept { return extents_[rank_ - 1]; }
  std::int64_t along(std::size_t operand) const noexcept { return strides_[operand][rank_ - 1]; }
  /// How many lines belong to one element of the outermost index.
  std::int64_t lines_of_first() const noexcept { return rank_ == 1 ? 1 : lines_ / extents_[0]; }
  std::int64_t first_extent() const noexcept { return rank_ == 1 ? 1 : extents_[0]; }
  std::int64_t first_stride(std::size_t operand) const noexcept { return rank_ == 1 ? 0 : strides_[operand][0]; }
  /// Where an operand's line begins.
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
