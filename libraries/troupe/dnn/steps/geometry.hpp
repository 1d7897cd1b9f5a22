// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/locations.hpp>

/// Shapes as kernels need them: with axes split, or of positions.
namespace troupe::dnn {

/// Returns the shape with axis 1 split into two: the group, and the channel in the group. A tensor has an element for
/// each channel, for each group or for all channels.
tensor_shape grouped(const tensor_shape& s, std::int64_t channels, std::int64_t groups) noexcept;

/// Returns a location without memory for the elements of a random or iota node: offsets in it are their positions in
/// the sequence of numbers, or their indexes along the axis.
location positions_of(const encoded_node& n, const tensor_shape& of) noexcept;

}  // namespace troupe::dnn
