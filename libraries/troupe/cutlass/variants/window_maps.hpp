// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/variants/convolution_work.hpp>
#include <troupe/cutlass/variants/hopper_variant.hpp>

/// Tensor maps of a convolution's factors for the tensor memory accelerator.
namespace troupe::cutlass {

/// Images or filters: channels first, then width, height and depth, then images or filters.
struct window_map {
  static constexpr std::size_t most_spatial = windows::most_spatial, most = most_spatial + 2;
  dtype type{};
  std::uint64_t address = 0;
  std::uint32_t rank = 0;
  std::array<std::uint64_t, most> extents{};
  std::array<std::uint64_t, most - 1> strides{};  ///< in bytes; channels are contiguous
  std::uint32_t channels = 0, items = 0;          ///< copied at once; items are positions, or filters
  bool gathers = false;
  /// If it gathers: the offsets of the first and last window from the first and last position of the image, and which
  /// axes.
  std::array<int, most_spatial> lower{}, upper{};
  std::array<std::uint32_t, most> steps{1, 1, 1, 1, 1};
};
struct window_maps {
  window_map image;
  window_map filters;  ///< of y and dx
};

/// Returns why the accelerator cannot copy the factors of these products, or "".
std::string why_not_gathered(const convolution_work& w);

/// Returns the product with as many terms as the kernel of a plan copies.
problem product_as_copied(const convolution_product& x, const convolution_signature& f, const plan& p);

window_maps maps_of(const convolution_product& x, const hopper_variant& c);

}  // namespace troupe::cutlass
