// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/places.hpp>
#include <utility>

/// Shapes as those who compute see them.
namespace troupe::dnn {

/// An image's spatial indexes, and a window's, as three: those that there are not have extent 1.
struct window_geometry {
  std::int64_t in[most_spatial], out[most_spatial], width[most_spatial];
  std::int64_t before[most_spatial], step[most_spatial], dilation[most_spatial];
  window_geometry(const sliding& s, const tensor_shape& image, const tensor_shape& result,
                  const std::int64_t* widths) noexcept;
  std::int64_t inside() const noexcept { return in[0] * in[1] * in[2]; }
  std::int64_t positions() const noexcept { return out[0] * out[1] * out[2]; }
  std::int64_t places() const noexcept { return width[0] * width[1] * width[2]; }
  /// Place in the image of window element f at position o; outside it may be anything.
  std::int64_t at(std::size_t i, std::int64_t o, std::int64_t f) const noexcept {
    return o * step[i] - before[i] + f * dilation[i];
  }
  /// The positions [first, last) at which element f of the window lies in the image.
  std::pair<std::int64_t, std::int64_t> seen(std::size_t i, std::int64_t f) const noexcept;
};

/// The shape with index 1 divided into groups: it becomes two, the group and the channel in it. Statistics have one
/// element for each group; a scale may be the same for all channels.
tensor_shape grouped(const tensor_shape& s, std::int64_t groups, bool statistics) noexcept;

}  // namespace troupe::dnn
