// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// Nanoseconds of the monotonic clock, the same in every process of the machine.
std::int64_t now_ns() noexcept;

/// Processors this process may run on. Spinning is only sensible when there is more than one.
int usable_cores() noexcept;

/// The processor this thread runs on, counted from 1; 0: that cannot be known.
std::uint32_t current_core() noexcept;

/// A hint to the processor that this is a spin loop.
inline void spin_hint() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

}  // namespace troupe
