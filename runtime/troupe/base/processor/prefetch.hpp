// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

namespace troupe {

/// Prefetches memory for reading, so that it arrives while the caller does something else. Useful for memory that
/// another core wrote last, or that is in no cache. Any address is allowed, even an invalid one.
inline void will_read(const void* first, std::size_t bytes) noexcept {
  const auto begin = reinterpret_cast<std::uintptr_t>(first);  // pointer arithmetic must not leave the object
  for (std::size_t at = 0; at < bytes; at += 64) __builtin_prefetch(reinterpret_cast<const char*>(begin + at), 0);
}

/// Prefetches memory for writing. Written in assembly: on x86-64, compilers turn their builtin into a prefetch for
/// reading unless the target has `prefetchw`, though every x86-64 processor accepts that instruction.
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
