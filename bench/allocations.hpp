// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::bench {

/// Returns how often this thread has called operator new so far. This program replaces operator new to count.
std::uint64_t allocations_of_this_thread() noexcept;

}  // namespace troupe::bench
