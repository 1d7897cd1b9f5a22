// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe::dnn {

/// The largest number of spatial axes.
inline constexpr std::size_t most_spatial = 3;

/// A windows::slide along each spatial axis, as attributes of a node.
struct sliding {
  std::int64_t padding_before[most_spatial], padding_after[most_spatial];  ///< in elements
  std::int64_t stride[most_spatial], dilation[most_spatial];
};

}  // namespace troupe::dnn
