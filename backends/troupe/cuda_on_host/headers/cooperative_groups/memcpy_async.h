// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
//
// Copies that a group makes together. Each thread copies its part at once, so waiting for the copies means waiting for
// the group.
#ifndef _COOPERATIVE_GROUPS_MEMCPY_ASYNC
#define _COOPERATIVE_GROUPS_MEMCPY_ASYNC
#pragma GCC system_header
#include "../cooperative_groups.h"

namespace cooperative_groups {

template <class Group, class T>
void memcpy_async(const Group& group, T* __restrict__ to, const T* __restrict__ from, size_t bytes) {
  const size_t whole = bytes / sizeof(T);
  for (size_t i = group.thread_rank(); i < whole; i += group.size()) __builtin_memcpy(to + i, from + i, sizeof(T));
  if (group.thread_rank() == 0) __builtin_memcpy(to + whole, from + whole, bytes - whole * sizeof(T));
}
template <class Group>
void memcpy_async(const Group& group, void* __restrict__ to, const void* __restrict__ from, size_t bytes) {
  memcpy_async(group, static_cast<char*>(to), static_cast<const char*>(from), bytes);
}
// Copies as many elements as both the source and the destination have.
template <class Group, class T, class To, class From>
void memcpy_async(const Group& group, T* __restrict__ to, const To& capacity, const T* __restrict__ from,
                  const From& available) {
  const size_t elements = static_cast<size_t>(capacity) < static_cast<size_t>(available) ? capacity : available;
  memcpy_async(group, to, from, elements * sizeof(T));
}
template <class Group>
void wait(const Group& group, TROUPE_PLACE) {
  group.sync(file, line);
}
template <unsigned Stages, class Group>
void wait_prior(const Group& group, TROUPE_PLACE) {
  group.sync(file, line);
}

}  // namespace cooperative_groups

#endif
