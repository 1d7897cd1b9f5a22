// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::cutlass {

/// Which elements of a factor are neighbours in memory.
enum class neighbours : std::uint8_t { none, terms, lines };

}  // namespace troupe::cutlass
