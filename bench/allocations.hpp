// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::bench {

/// How often this thread has asked operator new for memory so far. This program replaces it, to count.
std::uint64_t allocations_of_this_thread() noexcept;

}  // namespace troupe::bench
