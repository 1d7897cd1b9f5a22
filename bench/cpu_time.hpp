// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::bench {

/// Nanoseconds of processor time a process has used, all its threads together; -1 when it is gone.
std::int64_t cpu_ns(int pid) noexcept;

/// Sleeps until a process has stopped using the processor, at most a second: threads of its libraries may spin on after
/// work.
void await_quiet(int pid) noexcept;

void sleep_ns(std::int64_t ns) noexcept;

}  // namespace troupe::bench
