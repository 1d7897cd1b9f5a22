// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/encoded_graph.hpp>

namespace troupe::dnn {

/// The storage of a computed tensor: a view of memory of the graph, or of a buffer that steps share.
struct location {
  bool is_buffer = false;
  static constexpr std::uint32_t nowhere = UINT32_MAX;
  /// The index among the graph's memory, or among the plan's buffers if `is_buffer`; `nowhere` if the tensor is not
  /// stored.
  std::uint32_t number = 0;
  dtype type{};
  std::int64_t offset = 0;  ///< offset of the first element, in elements
  tensor_shape shape;
  bool exists() const noexcept { return number != nowhere; }
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

}  // namespace troupe::dnn
