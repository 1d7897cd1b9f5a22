// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <troupe/blas/cuda/testing/fakes.hpp>

namespace troupe::blas::testing {

void wrong(const char* what) {
  std::fprintf(stderr, "fake cuBLAS: a call that would fail on a GPU: %s\n", what);
  std::abort();
}
void must_be_pinned(const void* list) {
  if (!driver().is_pinned(list)) wrong("it reads a list of addresses that is not pinned");
}

namespace {

struct stack_range {
  std::uintptr_t begin = 0, end = 0;
};
// Finds the bounds of this thread's stack. On the main thread, this reads all of /proc/self/maps.
stack_range find_stack() {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return {};
  void* lowest = nullptr;
  std::size_t bytes = 0;
  ::pthread_attr_getstack(&attributes, &lowest, &bytes);
  ::pthread_attr_destroy(&attributes);
  const auto low = reinterpret_cast<std::uintptr_t>(lowest);
  return {low, low + bytes};
}

}  // namespace

bool is_on_this_stack(const void* address) {
  static thread_local const stack_range stack = find_stack();
  const auto at = reinterpret_cast<std::uintptr_t>(address);
  return at >= stack.begin && at < stack.end;
}

}  // namespace troupe::blas::testing
