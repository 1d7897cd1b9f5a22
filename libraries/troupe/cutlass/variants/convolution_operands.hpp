// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/convolution_problem.hpp>
#include <troupe/cutlass/variants/tensor_copy.hpp>

/// Tensors of convolutions as kernels read and write them.
namespace troupe::cutlass {

inline bool is_gradient_of_filters(const convolution_problem& p) noexcept {
  return p.result == convolution_result::dfilters;
}
inline std::int64_t size_of(dtype t) noexcept { return static_cast<std::int64_t>(bytes_of(t)); }

/// Allocates consecutive pieces of memory.
struct memory_pieces {
  std::uint64_t next = 0;  ///< where the next one begins: at a multiple of 256 bytes, if the first does
  std::uint64_t take(std::int64_t elements, dtype t) noexcept {
    const std::uint64_t at = next;
    next += (static_cast<std::uint64_t>(elements * size_of(t)) + 255) / 256 * 256;
    return at;
  }
};

/// Images or filters in groups of channels. Strides in elements; those along an axis of extent 1 are 0.
struct grouped_tensor {
  static constexpr std::size_t spatial_axes = windows::most_spatial;
  std::uint64_t address = 0;
  dtype type{};
  std::int64_t items = 1, groups = 1, channels = 1;  ///< channels of a group, items of all groups or of one
  std::array<std::int64_t, spatial_axes> spatial_extents{1, 1, 1};  ///< width, height, depth
  std::int64_t item = 0, group = 0, channel = 1;
  std::array<std::int64_t, spatial_axes> spatial_strides{};

  std::int64_t spatial_elements() const noexcept {
    return spatial_extents[0] * spatial_extents[1] * spatial_extents[2];
  }
  std::int64_t elements() const noexcept { return items * groups * channels * spatial_elements(); }
  /// Returns the bytes to which the first element and all others but those of adjacent channels are aligned, up to 16.
  int alignment() const noexcept;
  /// Returns the stride from one position to the next, with those of all items if `with_items`; 0 if there is no single
  /// one.
  std::int64_t spatial_stride(bool with_items) const noexcept;
  /// Returns true if channels are contiguous, and positions follow them, the width first.
  bool has_k_in_order() const noexcept;
};

/// Returns the image, the filters and the result of the convolution. Their channels and items are those of a group.
grouped_tensor image_of(const convolution_problem& p) noexcept;
grouped_tensor filters_of(const convolution_problem& p) noexcept;
grouped_tensor result_of(const convolution_problem& p) noexcept;

/// Returns the same tensor in other memory, packed: channels, width, height, depth, then groups and items; of filters,
/// items, then groups. There may be more channels and items than before.
grouped_tensor in_order(const grouped_tensor& t, std::uint64_t address, bool groups_outside) noexcept;
/// Returns the copy of the elements of `to`; elements that `from` does not have become 0.
tensor_copy copy_of(const grouped_tensor& from, const grouped_tensor& to) noexcept;

}  // namespace troupe::cutlass
