// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/convolutions/convolution_work.hpp>
#include <troupe/cutlass/variants/hopper_variant.hpp>

/// Descriptions of a convolution's factors for the tensor memory accelerator.
namespace troupe::cutlass {

/// A tensor map of images or filters. Its axes are channel, width, height, depth, and image or filter.
struct window_map {
  static constexpr std::size_t most_spatial = windows::most_spatial, most = most_spatial + 2;
  dtype type{};
  std::uint64_t address = 0;
  std::uint32_t rank = 0;
  std::array<std::uint64_t, most> extents{};
  std::array<std::uint64_t, most - 1> strides{};  ///< bytes; channels are contiguous
  std::uint32_t channels = 0;                     ///< channels of one copy
  std::uint32_t items = 0;                        ///< positions or filters of one copy
  bool gathers = false;                           ///< true for an im2col map
  /// For an im2col map: offsets of the first window from the image's first position and of the last window from its
  /// last position, and the strides of the windows.
  std::array<int, most_spatial> lower{}, upper{};
  std::array<std::uint32_t, most> steps{1, 1, 1, 1, 1};
};
/// The maps of one product.
struct window_maps {
  window_map image;
  window_map filters;  ///< set for y and dx
};

/// Returns the reason why the accelerator cannot copy the factors of these products, or "".
std::string why_not_gathered(const convolution_work& w);

/// Returns the product with k as the kernel of a plan copies it: with channels rounded up to a stage.
problem product_as_copied(const convolution_product& x, const convolution_signature& f, const plan& p);

window_maps maps_of(const convolution_product& x, const hopper_variant& c);

}  // namespace troupe::cutlass
