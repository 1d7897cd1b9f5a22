// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/steps/locations.hpp>

/// Shapes as kernels need them: with axes split.
namespace troupe::dnn {

/// Returns the shape with axis 1 split into two: the group, and the channel in the group. Statistics have one element
/// for each group. A scale with one element for all channels has the extent 1 along both axes.
tensor_shape grouped(const tensor_shape& s, std::int64_t groups, bool statistics) noexcept;

}  // namespace troupe::dnn
