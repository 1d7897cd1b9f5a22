// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/windows/per_axis.hpp>
#include <utility>

namespace troupe::windows {

/// The padding, stride and dilation of a window along one axis. Padding counts zeros before and after the image.
struct slide {
  std::int64_t padding_before = 0, padding_after = 0, stride = 1, dilation = 1;
};

/// Returns the number of positions of a window of `width` elements along an axis of `length`; less than 1 if it does
/// not fit.
std::int64_t positions_along(const slide& s, std::int64_t length, std::int64_t width) noexcept;

/// The spatial axes of an image and a window, filled up to three: missing axes come first and have extent 1.
struct geometry {
  std::int64_t in[most_spatial]{1, 1, 1}, out[most_spatial]{1, 1, 1}, width[most_spatial]{1, 1, 1};
  std::int64_t padding_before[most_spatial]{}, stride[most_spatial]{1, 1, 1}, dilation[most_spatial]{1, 1, 1};

  /// Sets an axis: the extents of image, result and window, and the padding, stride and dilation of the window.
  void set(std::size_t i, std::int64_t image, std::int64_t positions, std::int64_t window, const slide& s) noexcept {
    in[i] = image, out[i] = positions, width[i] = window;
    padding_before[i] = s.padding_before, stride[i] = s.stride, dilation[i] = s.dilation;
  }
  /// Returns the number of elements of the image, of positions of the window, and of elements of the window.
  std::int64_t image_size() const noexcept { return in[0] * in[1] * in[2]; }
  std::int64_t positions() const noexcept { return out[0] * out[1] * out[2]; }
  std::int64_t window_size() const noexcept { return width[0] * width[1] * width[2]; }
  /// Returns the coordinate in the image of window element f at position o; it may be outside the image.
  std::int64_t at(std::size_t i, std::int64_t o, std::int64_t f) const noexcept {
    return o * stride[i] - padding_before[i] + f * dilation[i];
  }
  /// Returns the positions [first, last) at which element f of the window is inside the image.
  std::pair<std::int64_t, std::int64_t> positions_inside(std::size_t i, std::int64_t f) const noexcept;
};

}  // namespace troupe::windows
