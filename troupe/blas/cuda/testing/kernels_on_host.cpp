// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "kernels_on_host.hpp"

#include <ucontext.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <mutex>
#include <string_view>

// What a kernel finds around it.
static troupe::blas::testing::extents threadIdx, blockIdx, blockDim, gridDim;
static void __syncthreads();
static float __int_as_float(int bits) { return std::bit_cast<float>(bits); }
static double __longlong_as_double(long long bits) { return std::bit_cast<double>(bits); }
using std::isfinite;

#include <cuda_bf16.h>
#include <cuda_fp16.h>
// One block runs at a time, so what its threads share there is only one of.
#undef __shared__
#define __shared__ static
#include "../elements.cuh"
#include "../products.cuh"
#include "../reductions.cuh"
#include "../rotations.cuh"

using namespace troupe::blas::on_gpu;

namespace troupe::blas::testing {
namespace {

// One thread of a block, with a stack of its own.
struct fiber {
  static constexpr std::size_t stack_bytes = 64 * 1024;
  ucontext_t state;
  std::unique_ptr<char[]> stack{new char[stack_bytes]};
  extents index;
  bool done;
};
ucontext_t scheduler;
fiber* running;
const host_kernel* kernel_now;
const void* arguments_now;

void run_fiber() {
  kernel_now->run(arguments_now);
  running->done = true;
  ::swapcontext(&running->state, &scheduler);
}
void resume(fiber& f) {
  running = &f;
  threadIdx = f.index;
  ::swapcontext(&scheduler, &f.state);
}

void start(fiber& f, extents index) {
  f.index = index;
  f.done = false;
  ::getcontext(&f.state);
  f.state.uc_stack.ss_sp = f.stack.get();
  f.state.uc_stack.ss_size = fiber::stack_bytes;
  f.state.uc_link = nullptr;
  ::makecontext(&f.state, run_fiber, 0);
}

// Only these wait for the others of their block.
bool has_barriers(std::string_view name) {
  name.remove_prefix(std::strlen("troupe_blas_"));
  return name.starts_with("find") || name.starts_with("norm") ||
         (name.starts_with("multiply_") && !name.starts_with("multiply_by"));
}
void run_block_without_barriers() {
  running = nullptr;
  for (unsigned z = 0; z < blockDim.z; ++z)
    for (unsigned y = 0; y < blockDim.y; ++y)
      for (unsigned x = 0; x < blockDim.x; ++x) {
        threadIdx = {x, y, z};
        kernel_now->run(arguments_now);
      }
}

void run_block(std::vector<fiber>& fibers) {
  std::size_t next = 0;
  for (unsigned z = 0; z < blockDim.z; ++z)
    for (unsigned y = 0; y < blockDim.y; ++y)
      for (unsigned x = 0; x < blockDim.x; ++x) start(fibers[next++], {x, y, z});
  for (bool any = true; any;) {
    any = false;
    for (fiber& f : fibers)
      if (!f.done) {
        resume(f);
        any |= !f.done;
      }
  }
}

template <class A, void (*Function)(const A&)>
void run_one(const void* arguments) {
  A copy;
  std::memcpy(static_cast<void*>(&copy), arguments, sizeof copy);
  Function(copy);
}

}  // namespace

const std::vector<host_kernel>& host_kernels() {
#define KERNEL(NAME, ARGUMENTS, ...) {"troupe_blas_" #NAME, sizeof(ARGUMENTS), &run_one<ARGUMENTS, &__VA_ARGS__>},
  static const std::vector<host_kernel> all{
#include "../kernel_list.inc"
  };
  return all;
}

void run_on_host(const host_kernel& kernel, extents blocks, extents threads, const void* arguments) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  kernel_now = &kernel, arguments_now = arguments;
  gridDim = blocks, blockDim = threads;
  const bool barriers = has_barriers(kernel.name);
  static std::vector<fiber> fibers;
  fibers.resize(std::size_t{threads.x} * threads.y * threads.z);
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

}  // namespace troupe::blas::testing

static void __syncthreads() {
  using namespace troupe::blas::testing;
  fiber* const self = running;
  if (self == nullptr) std::abort();  // has_barriers does not know this kernel
  ::swapcontext(&self->state, &scheduler);
}
