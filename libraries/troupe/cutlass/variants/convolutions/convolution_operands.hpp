// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/problems/convolution_problem.hpp>
#include <troupe/cutlass/variants/convolutions/tensor_copy.hpp>

/// Tensors of convolutions as kernels read and write them.
namespace troupe::cutlass {

inline bool is_gradient_of_filters(const convolution_problem& p) noexcept {
  return p.result == computed_tensor::dfilters;
}
inline std::int64_t size_of(dtype t) noexcept { return static_cast<std::int64_t>(bytes_of(t)); }

/// Divides memory into consecutive pieces.
struct memory_pieces {
  std::uint64_t next = 0;  ///< address of the next piece; pieces are a multiple of 256 bytes apart
  std::uint64_t take(std::int64_t elements, dtype t) noexcept {
    const std::uint64_t at = next;
    next += (static_cast<std::uint64_t>(elements * size_of(t)) + 255) / 256 * 256;
    return at;
  }
};

/// Images or filters in groups of channels. Strides are in elements; the stride of an axis of extent 1 is 0.
struct grouped_tensor {
  static constexpr std::size_t spatial_axes = windows::most_spatial;
  std::uint64_t address = 0;
  dtype type{};
  std::int64_t items = 1;                                           ///< number of images, or of filters in a group
  std::int64_t groups = 1;                                          ///< number of groups
  std::int64_t channels = 1;                                        ///< number of channels in a group
  std::array<std::int64_t, spatial_axes> spatial_extents{1, 1, 1};  ///< width, height, depth
  std::int64_t item = 0, group = 0, channel = 1;
  std::array<std::int64_t, spatial_axes> spatial_strides{};

  std::int64_t spatial_elements() const noexcept {
    return spatial_extents[0] * spatial_extents[1] * spatial_extents[2];
  }
  std::int64_t elements() const noexcept { return items * groups * channels * spatial_elements(); }
  /// Returns the bytes, at most 16, to which the address and all strides except the channels' are aligned.
  int alignment() const noexcept;
  /// Returns the stride between positions of an item, or of all items if `with_items`; 0 if there is no single stride.
  std::int64_t spatial_stride(bool with_items) const noexcept;
  /// Returns true if an item is dense, with the axes in this order, the fastest first: channels, width, height, depth.
  bool has_k_in_order() const noexcept;
};

/// Returns the image that the windows gather from: x, or dy for dx.
grouped_tensor image_of(const convolution_problem& p) noexcept;
grouped_tensor filters_of(const convolution_problem& p) noexcept;
grouped_tensor result_of(const convolution_problem& p) noexcept;

/// Returns a dense tensor with the extents of `t` at `address`. Its axes are, the fastest first: channels, groups,
/// width, height, depth, items; or, if `groups_outside`, channels, width, height, depth, items, groups.
grouped_tensor in_order(const grouped_tensor& t, std::uint64_t address, bool groups_outside) noexcept;
/// Describes the copy that fills `to` from `from`; elements that `from` lacks become 0.
tensor_copy copy_of(const grouped_tensor& from, const grouped_tensor& to) noexcept;

}  // namespace troupe::cutlass
