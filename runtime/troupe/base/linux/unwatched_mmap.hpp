// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <troupe/base/compiler/sanitizers.hpp>

#if TROUPE_THREAD_SANITIZER
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace troupe {

/// Calls mmap without telling the thread sanitizer, which treats mmap as a write to all of the memory. For memory that
/// threads use in an order that the sanitizer cannot observe, because another process establishes it.
inline void* unwatched_mmap(void* at, std::size_t bytes, int protection, int flags, int fd) {
#if TROUPE_THREAD_SANITIZER
  return reinterpret_cast<void*>(::syscall(SYS_mmap, at, bytes, protection, flags, fd, 0));
#else
  return ::mmap(at, bytes, protection, flags, fd, 0);
#endif
}

}  // namespace troupe
