// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda_on_host/internal/fiber_switch.hpp>

#include <cstdint>

#if defined(__x86_64__)

// Ends with `ret`, which the processor predicts well, because nearly all fibers were left by the same call as the
// current one.
asm(R"(
.text
.p2align 4
.hidden troupe_kernel_switch_stack
.globl troupe_kernel_switch_stack
.type troupe_kernel_switch_stack, @function
troupe_kernel_switch_stack:
  .cfi_startproc
  endbr64
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
  .cfi_endproc
.size troupe_kernel_switch_stack, . - troupe_kernel_switch_stack
)");

namespace troupe::cuda_on_host {

stack_position new_stack(char* bottom, std::size_t bytes, void (*entry)()) noexcept {
  auto top = reinterpret_cast<std::uintptr_t>(bottom + bytes) & ~std::uintptr_t{15};
  auto* at = reinterpret_cast<void**>(top);
  *--at = nullptr;  // return address of `entry`, for stack unwinders; a call would have pushed one too
  *--at = reinterpret_cast<void*>(entry);
  for (int i = 0; i < 6; ++i) *--at = nullptr;
  return {at};
}

}  // namespace troupe::cuda_on_host

#else

namespace troupe::cuda_on_host {

stack_position new_stack(char* bottom, std::size_t bytes, void (*entry)()) noexcept {
  stack_position p;
  ::getcontext(&p.context);
  p.context.uc_stack.ss_sp = bottom;
  p.context.uc_stack.ss_size = bytes;
  p.context.uc_link = nullptr;
  ::makecontext(&p.context, entry, 0);
  return p;
}

}  // namespace troupe::cuda_on_host

#endif
