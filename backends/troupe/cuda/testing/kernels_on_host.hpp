// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <setjmp.h>
#include <ucontext.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <troupe/cuda/testing/fake_driver.hpp>

/// Compiles kernels for the processor, so that their results can be tested without a GPU. In one source of a fake
/// engine, include this, then the headers of the kernels, and list the kernels:
///
///   driver().kernels = {on_host<arguments, &function>("troupe_name_of_kernel", true), ...};
///   driver().computes = true;

// The built-in variables and functions of device code.
static troupe::cuda::testing::extents threadIdx, blockIdx, blockDim, gridDim;
static void __syncthreads();

// One block runs at a time, so its shared variables can be ordinary static variables.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_fp8.h>
#undef __shared__
#define __shared__ static

namespace troupe::cuda::testing {
namespace {

// One thread of a block, with its own stack; its stack is reused for the same thread of the next block. The stack is
// entered by ucontext once, and by _setjmp afterwards: swapcontext makes a system call each time.
struct fiber {
  static constexpr std::size_t stack_bytes = 64 * 1024;
  jmp_buf state;
  std::unique_ptr<char[]> stack{new char[stack_bytes]};
  extents index;
  bool entered = false, done = false;
};
jmp_buf scheduler;
fiber* running;
void (*kernel_now)(const void* arguments);  // called for each thread
const void* arguments_now;

void leave_fiber() {
  if (_setjmp(running->state) == 0) _longjmp(scheduler, 1);
}
void run_fiber() {
  while (true) {
    kernel_now(arguments_now);
    running->done = true;
    leave_fiber();
  }
}
void enter(fiber& f) {
  f.entered = true;
  ucontext_t first;
  ::getcontext(&first);
  first.uc_stack.ss_sp = f.stack.get();
  first.uc_stack.ss_size = fiber::stack_bytes;
  first.uc_link = nullptr;
  ::makecontext(&first, run_fiber, 0);
  ::setcontext(&first);
}
void resume(fiber& f) {
  running = &f;
  threadIdx = f.index;
  if (_setjmp(scheduler) != 0) return;
  if (f.entered) _longjmp(f.state, 1);
  enter(f);
}

void run_block_without_barriers() {
  running = nullptr;
  for (unsigned z = 0; z < blockDim.z; ++z)
    for (unsigned y = 0; y < blockDim.y; ++y)
      for (unsigned x = 0; x < blockDim.x; ++x) {
        threadIdx = {x, y, z};
        kernel_now(arguments_now);
      }
}

void run_block(std::vector<fiber>& fibers) {
  std::size_t next = 0;
  for (unsigned z = 0; z < blockDim.z; ++z)
    for (unsigned y = 0; y < blockDim.y; ++y)
      for (unsigned x = 0; x < blockDim.x; ++x) {
        fiber& f = fibers[next++];
        f.index = {x, y, z};
        f.done = false;
      }
  for (bool any = true; any;) {
    any = false;
    for (std::size_t i = 0; i < next; ++i)
      if (!fibers[i].done) {
        resume(fibers[i]);
        any |= !fibers[i].done;
      }
  }
}

template <class A, void (*Function)(const A&)>
void run_one(const void* arguments) {
  A copy;
  std::memcpy(static_cast<void*>(&copy), arguments, sizeof copy);
  Function(copy);
}

// Runs all blocks, one after the other. At each barrier, a block's threads take turns.
void run_on_host(void (*kernel)(const void*), bool barriers, extents blocks, extents threads, const void* arguments) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  kernel_now = kernel, arguments_now = arguments;
  gridDim = blocks, blockDim = threads;
  static std::vector<fiber> fibers;
  if (const std::size_t n = std::size_t{threads.x} * threads.y * threads.z; fibers.size() < n) fibers.resize(n);
  for (unsigned z = 0; z < blocks.z; ++z)
    for (unsigned y = 0; y < blocks.y; ++y)
      for (unsigned x = 0; x < blocks.x; ++x) {
        blockIdx = {x, y, z};
        if (barriers)
          run_block(fibers);
        else
          run_block_without_barriers();
      }
}

/// Makes a kernel that the fake driver can run. `barriers` must be true if the kernel calls __syncthreads, which makes
/// it slow here.
template <class A, void (*Function)(const A&)>
fake_kernel on_host(const char* name, bool barriers) {
  return {name, sizeof(A), [barriers](extents blocks, extents threads, const void* arguments) {
            run_on_host(&run_one<A, Function>, barriers, blocks, threads, arguments);
          }};
}

}  // namespace
}  // namespace troupe::cuda::testing

static void __syncthreads() {
  using namespace troupe::cuda::testing;
  if (running == nullptr) std::abort();  // a kernel listed as having no barriers has called __syncthreads
  leave_fiber();
}
