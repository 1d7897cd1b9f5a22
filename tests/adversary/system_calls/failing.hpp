// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <span>

/// The system calls of this program, one of which can be made to fail. The functions of interpose.cpp replace those of
/// the C library.
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
/// Returns the documented error numbers after which a repeated call may succeed.
std::span<const int> errors_of(call c) noexcept;

/// The call that fails, once.
struct choice {
  call which = call::count;
  int number = 0;  ///< 1 is the first call of this kind
  int error = 0;
};

void arm(const choice& c) noexcept;
/// Lets all calls succeed from now on. Returns whether the chosen one has failed.
bool disarm() noexcept;
/// Returns how many calls of each kind there were since `arm`.
std::array<int, call_count> counts() noexcept;

/// Counts a call. Returns true, with errno set, if it must fail.
bool fails(call c) noexcept;

}  // namespace failing
