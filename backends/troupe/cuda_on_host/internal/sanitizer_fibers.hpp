// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <troupe/base/compiler/sanitizers.hpp>

// Reports switches between stacks to the sanitizers, which track the current stack. Does nothing in other builds.
#if TROUPE_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#if TROUPE_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace troupe::cuda_on_host {

#if TROUPE_ADDRESS_SANITIZER || TROUPE_THREAD_SANITIZER
inline constexpr bool sanitized_fibers = true;
#else
inline constexpr bool sanitized_fibers = false;
#endif

// Call before a switch to the stack at `bottom`. Stores the current stack's state in `keep`, which is null if that
// stack ends.
inline void sanitizer_leaves_stack([[maybe_unused]] void** keep, [[maybe_unused]] const void* bottom,
                                   [[maybe_unused]] std::size_t bytes) noexcept {
#if TROUPE_ADDRESS_SANITIZER
  ::__sanitizer_start_switch_fiber(keep, bottom, bytes);
#endif
}

// Call after the switch, on the new stack. Returns the bounds of the previous stack.
inline void sanitizer_enters_stack([[maybe_unused]] void* kept, [[maybe_unused]] const void** bottom,
                                   [[maybe_unused]] std::size_t* bytes) noexcept {
#if TROUPE_ADDRESS_SANITIZER
  ::__sanitizer_finish_switch_fiber(kept, bottom, bytes);
#endif
}

// Call before a stack is reused: the address sanitizer still marks frames on it that were left without a return.
inline void sanitizer_forgets_stack([[maybe_unused]] const void* bottom, [[maybe_unused]] std::size_t bytes) noexcept {
#if TROUPE_ADDRESS_SANITIZER
  ::__asan_unpoison_memory_region(bottom, bytes);
#endif
}

// Each stack is a fiber of the thread sanitizer, with a handle.
inline void* sanitizer_this_fiber() noexcept {
#if TROUPE_THREAD_SANITIZER
  return ::__tsan_get_current_fiber();
#else
  return nullptr;
#endif
}
inline void* sanitizer_new_fiber() noexcept {
#if TROUPE_THREAD_SANITIZER
  return ::__tsan_create_fiber(0);
#else
  return nullptr;
#endif
}
inline void sanitizer_end_fiber([[maybe_unused]] void* fiber) noexcept {
#if TROUPE_THREAD_SANITIZER
  if (fiber) ::__tsan_destroy_fiber(fiber);
#endif
}
inline void sanitizer_goes_to([[maybe_unused]] void* fiber) noexcept {
#if TROUPE_THREAD_SANITIZER
  ::__tsan_switch_to_fiber(fiber, 0);
#endif
}

}  // namespace troupe::cuda_on_host
