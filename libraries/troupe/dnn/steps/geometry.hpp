// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/windows/sliding.hpp>
#include <troupe/dnn/steps/locations.hpp>
#include <troupe/windows/geometry.hpp>

/// Shapes in the form that kernels use: axes are added or split.
namespace troupe::dnn {

/// The windows::geometry of a node, made from its attributes and shapes. `widths` are the window's extents.
struct window_geometry : windows::geometry {
  window_geometry(const sliding& s, const tensor_shape& image, const tensor_shape& result,
                  const std::int64_t* widths) noexcept;
};

/// Returns the shape with axis 1 split into two: the group, and the channel in it. Statistics have one element for each
/// group. A scale with one element for all channels has extent 1 along both.
tensor_shape grouped(const tensor_shape& s, std::int64_t groups, bool statistics) noexcept;

}  // namespace troupe::dnn
