// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::bench {

/// Returns the nanoseconds of processor time that all threads of a process have used, or -1 if it has ended.
std::int64_t cpu_ns(int pid) noexcept;

/// Sleeps until a process uses the processor no longer, for at most a second: threads of its libraries may spin after
/// work.
void await_quiet(int pid) noexcept;

void sleep_ns(std::int64_t ns) noexcept;

}  // namespace troupe::bench
