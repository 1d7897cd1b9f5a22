// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/locations.hpp>
#include <troupe/windows/geometry.hpp>

/// Shapes after their axes are collapsed or split, as kernels use them.
namespace troupe::dnn {

/// The geometry of a window that slides over an image, from the shapes of image and result.
struct window_geometry : windows::geometry {
  window_geometry(const sliding& s, const tensor_shape& image, const tensor_shape& result,
                  const std::int64_t* widths) noexcept;
};

/// Returns the shape with axis 1 split into two: the group, and the channel in it. Statistics have one element for each
/// group; a scale may be the same for all channels.
tensor_shape grouped(const tensor_shape& s, std::int64_t groups, bool statistics) noexcept;

}  // namespace troupe::dnn
