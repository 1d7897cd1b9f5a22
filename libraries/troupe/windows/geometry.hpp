// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>

namespace troupe {
struct tensor_shape;
}

namespace troupe::windows {

template <class T>
struct convolution_roles;

/// The most spatial axes of an image.
inline constexpr std::size_t most_spatial = 3;
/// The first spatial axis. Axes 0 and 1 are the image and the channel.
inline constexpr std::size_t first_spatial = 2;

/// The padding, stride and dilation of a window along one axis, in elements. Padding is zeros before and after the
/// image.
struct slide {
  std::int64_t padding_before = 0, padding_after = 0, stride = 1, dilation = 1;
};
/// The slide along each spatial axis, in the order of a tensor's axes: entry 0 is that of axis `first_spatial`. Entries
/// of axes that an image does not have come last.
using slides = std::array<slide, most_spatial>;

/// Returns the number of positions of a window along an axis, from the extents of the image and of the window. It is
/// less than 1 if the window does not fit.
std::int64_t positions_along(const slide& s, std::int64_t image, std::int64_t window) noexcept;

/// The spatial axes of an image and a window, filled up to three: missing axes come first and have extent 1, so that
/// entry 2 is that of the fastest axis. The padding after the image is not stored, because it follows from `out`.
/// Kernels take this struct as an argument, too.
struct geometry {
  /// Extents of the image, of the result (the positions of the window), and of the window.
  std::int64_t in[most_spatial]{1, 1, 1}, out[most_spatial]{1, 1, 1}, window[most_spatial]{1, 1, 1};
  std::int64_t padding_before[most_spatial]{}, stride[most_spatial]{1, 1, 1}, dilation[most_spatial]{1, 1, 1};

  /// Returns the geometry of a window with these spatial extents. Moves the entries of `s` to the last axes.
  static geometry of(const slides& s, const tensor_shape& image, const tensor_shape& result,
                     const std::int64_t* of_window) noexcept;
  /// Sets axis i: the extents of the image and of the window, the number of positions, and how the window slides.
  void set(std::size_t i, std::int64_t image, std::int64_t positions, std::int64_t of_window, const slide& s) noexcept {
    in[i] = image, out[i] = positions, window[i] = of_window;
    padding_before[i] = s.padding_before, stride[i] = s.stride, dilation[i] = s.dilation;
  }
  /// Return the number of elements of an image, of positions of the window, and of elements of the window.
  std::int64_t image_size() const noexcept { return in[0] * in[1] * in[2]; }
  std::int64_t positions() const noexcept { return out[0] * out[1] * out[2]; }
  std::int64_t window_size() const noexcept { return window[0] * window[1] * window[2]; }
  /// Returns the index along axis i of the image element that window element f covers at position o. It may be outside
  /// the image.
  std::int64_t at(std::size_t i, std::int64_t o, std::int64_t f) const noexcept {
    return o * stride[i] - padding_before[i] + f * dilation[i];
  }
  /// Returns the range [first, last) of positions along axis i at which window element f is inside the image.
  std::pair<std::int64_t, std::int64_t> positions_inside(std::size_t i, std::int64_t f) const noexcept;
};

/// The numbers that a convolution and its gradients are computed with. Kernels take this struct as an argument, too.
struct convolution_geometry : geometry {
  std::int64_t images = 0, groups = 1;
  std::int64_t channels_of_group = 0, filters_of_group = 0;  ///< channels of the image and of the result, in one group

  /// Returns the geometry of a convolution with these shapes. Channels of both are counted in the filters: a computed
  /// image or result has half as many if an epilogue pairs them.
  static convolution_geometry of(const slides& s, std::int64_t groups,
                                 const convolution_roles<const tensor_shape&>& shapes) noexcept;
};

}  // namespace troupe::windows
