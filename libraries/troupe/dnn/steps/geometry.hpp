// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/locations.hpp>
#include <troupe/windows/geometry.hpp>

/// Shapes as those who compute see them.
namespace troupe::dnn {

/// The geometry of images with the given extents.
struct window_geometry : windows::geometry {
  window_geometry(const sliding& s, const tensor_shape& image, const tensor_shape& result,
                  const std::int64_t* widths) noexcept;
};

/// The shape with index 1 divided into groups: it becomes two, the group and the channel in it. Statistics have one
/// element for each group; a scale may be the same for all channels.
tensor_shape grouped(const tensor_shape& s, std::int64_t groups, bool statistics) noexcept;

}  // namespace troupe::dnn
