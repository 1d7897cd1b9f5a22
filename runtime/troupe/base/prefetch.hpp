// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

/// Memory that another core has written last, or that no cache holds any more, asked for before it is needed: it comes
/// while something else is done. Any address will do, a wrong one too.
inline void will_read(const void* first, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(first);  // pointers may not be moved out of what they point into
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(reinterpret_cast<const char*>(begin + at), 0);
}

/// The same for memory that will be written. Compilers turn their own hint for it into one for reading, unless told
/// that the processor has better; all of x86-64 take this one.
inline void will_write(void* first, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(first);
  for (std::size_t at = 0; at < bytes; at += 64)
#if defined(__x86_64__)
    __asm__ volatile("prefetchw %0" : : "m"(*reinterpret_cast<char*>(begin + at)));
#else
    __builtin_prefetch(reinterpret_cast<char*>(begin + at), 1);
#endif
}

}  // namespace troupe
