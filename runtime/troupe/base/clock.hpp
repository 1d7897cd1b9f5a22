// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// Returns the time of the monotonic clock in nanoseconds, the same in every process of the machine.
std::int64_t now_ns() noexcept;

/// Returns the number of processors this process may run on. Spinning makes sense only if there is more than one.
int usable_cores() noexcept;

/// Returns the number of the processor that this thread runs on, plus 1; 0 if it is unknown.
std::uint32_t current_core() noexcept;

/// Tells the processor that this is a spin loop.
inline void spin_hint() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace troupe
