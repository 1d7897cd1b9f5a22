// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#if !defined(__x86_64__)
#include <ucontext.h>
#endif

namespace troupe::cuda_on_host {

// The point where a stack was left. On x86-64, the registers that a called function must preserve are saved on the
// stack itself. The floating-point control words are not saved, because all fibers of a block share them.
struct stack_position {
#if defined(__x86_64__)
  void* pointer = nullptr;
#else
  ucontext_t context{};
#endif
};

// Leaves the current stack, storing its position in `from`, and continues at `to`.
#if defined(__x86_64__)
extern "C" void troupe_kernel_switch_stack(void** from, void* to) noexcept;
inline void switch_stack(stack_position& from, const stack_position& to) noexcept {
  troupe_kernel_switch_stack(&from.pointer, to.pointer);
}
#else
inline void switch_stack(stack_position& from, const stack_position& to) noexcept {
  ::swapcontext(&from.context, &to.context);
}
#endif

// Returns a position from which `entry`, which never returns, starts on an empty stack.
stack_position new_stack(char* bottom, std::size_t bytes, void (*entry)()) noexcept;

}  // namespace troupe::cuda_on_host
