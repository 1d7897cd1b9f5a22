// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace troupe::dnn {

/// The lines of a dense tensor along an axis: it is `outer` x `extent` x `inner`.
struct lines_along {
  std::int64_t outer = 1, extent = 1, inner = 1;
  lines_along(std::span<const std::int64_t> extents, std::size_t axis) noexcept {
    for (std::size_t i = 0; i < extents.size(); ++i) (i < axis ? outer : i > axis ? inner : extent) *= extents[i];
  }
};

}  // namespace troupe::dnn
