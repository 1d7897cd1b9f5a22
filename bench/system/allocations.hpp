// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::bench {

/// Returns how many times this thread has called operator new, which this program replaces in order to count.
std::uint64_t allocations_of_this_thread() noexcept;

}  // namespace troupe::bench
