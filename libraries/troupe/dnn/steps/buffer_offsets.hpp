// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace troupe::dnn {

/// A buffer, and the steps from the first to the last that use it.
struct used_bytes {
  std::uint64_t bytes;
  std::size_t first, last;
};

/// Returns where each begins in memory that they share: at the lowest place that is free while it is used. `all`
/// becomes the bytes of that memory.
std::vector<std::uint64_t> places_of(std::span<const used_bytes> buffers, std::uint64_t& all);

}  // namespace troupe::dnn
