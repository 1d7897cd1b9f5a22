// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <pthread.h>

#include <cstdio>
#include <cstdlib>
#include <troupe/blas/cuda/testing/fakes.hpp>

namespace troupe::blas::testing {

void wrong(const char* what) {
  std::fprintf(stderr, "a GPU would go wrong: %s\n", what);
  std::abort();
}
void must_be_pinned(const void* list) {
  if (!driver().is_pinned(list)) wrong("it reads a list of addresses that is not pinned");
}
bool is_on_this_stack(const void* address) {
  pthread_attr_t attributes;
  if (::pthread_getattr_np(::pthread_self(), &attributes) != 0) return false;
  void* lowest = nullptr;
  std::size_t bytes = 0;
  ::pthread_attr_getstack(&attributes, &lowest, &bytes);
  ::pthread_attr_destroy(&attributes);
  const auto at = reinterpret_cast<std::uintptr_t>(address), low = reinterpret_cast<std::uintptr_t>(lowest);
  return at >= low && at < low + bytes;
}

}  // namespace troupe::blas::testing
