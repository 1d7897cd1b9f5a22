// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::cutlass {

/// The axis of a factor whose elements are contiguous in memory.
enum class contiguous_axis : std::uint8_t { none, k, lines };

}  // namespace troupe::cutlass
