// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <span>

/// Calls of this program to the system, of which one can be made to fail. The functions of failing.cpp take the place
/// of the C library's.
namespace failing {

enum class call : int {
  memfd_create,
  ftruncate,
  mmap,
  mprotect,
  madvise,
  socketpair,
  sendmsg,
  recvmsg,
  epoll_create1,
  epoll_ctl,
  epoll_wait,
  eventfd,
  timerfd_create,
  posix_spawn,
  duplicate,
  pidfd_open,
  futex_wait,
  pthread_create,
  open,
  fopen,
  read,
  write,
  ppoll,
  waitid,
  nanosleep,
  count
};

constexpr int call_count = static_cast<int>(call::count);
const char* name_of(call c) noexcept;
/// Returns the error numbers that are documented for a call that may succeed when it is repeated later.
std::span<const int> errors_of(call c) noexcept;

/// The call that fails, once.
struct choice {
  call which = call::count;
  int number = 0;  ///< 1 is the first call of this kind
  int error = 0;
};

void arm(const choice& c) noexcept;
/// Lets no call fail any more. Returns whether the chosen one did.
bool disarm() noexcept;
/// Returns how many calls of each kind there were since `arm`.
std::array<int, call_count> counts() noexcept;

/// Counts a call. Returns true, with errno set, if it is to fail.
bool fails(call c) noexcept;

}  // namespace failing
