// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cells/copy_cell.hpp>
#include <troupe/cutlass/convolution_problem.hpp>

/// Tensors of convolutions as kernels read and write them.
namespace troupe::cutlass {

inline bool is_gradient_of_filters(const convolution_problem& p) noexcept {
  return p.result == convolution_result::dfilters;
}
inline std::int64_t size_of(dtype t) noexcept { return static_cast<std::int64_t>(bytes_of(t)); }

/// Hands out memory, piece after piece.
struct memory_pieces {
  std::uint64_t next = 0;  ///< where the next one begins: at a multiple of 256 bytes, if the first does
  std::uint64_t take(std::int64_t elements, dtype t) noexcept {
    const std::uint64_t at = next;
    next += (static_cast<std::uint64_t>(elements * size_of(t)) + 255) / 256 * 256;
    return at;
  }
};

/// Images or filters in groups of channels. Distances in elements; those along an index of one place are 0.
struct grouped_tensor {
  static constexpr std::size_t spaces = windows::most_spatial;
  std::uint64_t address = 0;
  dtype type{};
  std::int64_t items = 1, groups = 1, channels = 1;  ///< channels of a group, items of all groups or of one
  std::array<std::int64_t, spaces> places{1, 1, 1};  ///< width, height, depth
  std::int64_t item = 0, group = 0, channel = 1;
  std::array<std::int64_t, spaces> space{};

  std::int64_t all_places() const noexcept { return places[0] * places[1] * places[2]; }
  std::int64_t elements() const noexcept { return items * groups * channels * all_places(); }
  /// Bytes to which the first element and all others but those of neighbouring channels are aligned, up to 16.
  int alignment() const noexcept;
  /// The distance from one place to the next, with those of all items if `with_items`; 0: there is no single one.
  std::int64_t step_of_places(bool with_items) const noexcept;
  /// Returns true if channels are neighbours, and places follow them, the width first.
  bool has_terms_in_order() const noexcept;
};

/// The image, the filters and the result of the windows. Their channels and items are those of a group.
grouped_tensor image_of(const convolution_problem& p) noexcept;
grouped_tensor filters_of(const convolution_problem& p) noexcept;
grouped_tensor result_of(const convolution_problem& p) noexcept;

/// The same in other memory, in order: channels, width, height, depth, then groups and items; of filters, items, then
/// groups. There may be more channels and items than before.
grouped_tensor in_order(const grouped_tensor& t, std::uint64_t address, bool groups_outside) noexcept;
/// Copies the elements of `to`; what `from` does not have becomes 0.
tensor_copy copy_of(const grouped_tensor& from, const grouped_tensor& to) noexcept;

}  // namespace troupe::cutlass
