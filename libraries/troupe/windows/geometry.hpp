// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/windows/per_axis.hpp>
#include <utility>

namespace troupe::windows {

/// How a window slides along one index: zeros before and after the image, and distances.
struct slide {
  std::int64_t padding_before = 0, padding_after = 0, stride = 1, dilation = 1;
};

/// Returns how often a window of `width` elements fits along an index of `length`; less than 1 if never.
std::int64_t positions_along(const slide& s, std::int64_t length, std::int64_t width) noexcept;

/// An image's spatial indexes, and a window's, as three. The first ones are those that there are not: they have extent
/// 1.
struct geometry {
  std::int64_t in[most_spatial]{1, 1, 1}, out[most_spatial]{1, 1, 1}, width[most_spatial]{1, 1, 1};
  std::int64_t padding_before[most_spatial]{}, stride[most_spatial]{1, 1, 1}, dilation[most_spatial]{1, 1, 1};

  /// Sets an index: the extents of image, result and window, and how it slides.
  void set(std::size_t i, std::int64_t image, std::int64_t positions, std::int64_t window, const slide& s) noexcept {
    in[i] = image, out[i] = positions, width[i] = window;
    padding_before[i] = s.padding_before, stride[i] = s.stride, dilation[i] = s.dilation;
  }
  std::int64_t inside() const noexcept { return in[0] * in[1] * in[2]; }
  std::int64_t positions() const noexcept { return out[0] * out[1] * out[2]; }
  std::int64_t places() const noexcept { return width[0] * width[1] * width[2]; }
  /// Place in the image of window element f at position o; outside it may be anything.
  std::int64_t at(std::size_t i, std::int64_t o, std::int64_t f) const noexcept {
    return o * stride[i] - padding_before[i] + f * dilation[i];
  }
  /// The positions [first, last) at which element f of the window lies in the image.
  std::pair<std::int64_t, std::int64_t> seen(std::size_t i, std::int64_t f) const noexcept;
};

}  // namespace troupe::windows
