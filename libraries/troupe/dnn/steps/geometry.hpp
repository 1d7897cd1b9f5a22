// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/locations.hpp>

/// Shapes as kernels need them: with axes split.
namespace troupe::dnn {

/// Returns the shape with axis 1 split into two: the group, and the channel in the group. A tensor has an element for
/// each channel, for each group or for all channels.
tensor_shape grouped(const tensor_shape& s, std::int64_t channels, std::int64_t groups) noexcept;

}  // namespace troupe::dnn
