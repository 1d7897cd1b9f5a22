// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include "failing.hpp"

#include <cerrno>

namespace failing {
namespace {

struct listed {
  const char* name;
  int errors[5];
  std::size_t count;
};
constexpr std::array<listed, call_count> all{listed{"memfd_create", {EMFILE, ENFILE, ENOMEM}, 3},
                                             listed{"ftruncate", {EINTR, EFBIG}, 2},
                                             listed{"mmap", {ENOMEM, EAGAIN, ENFILE}, 3},
                                             listed{"mprotect", {ENOMEM}, 1},
                                             listed{"madvise", {EAGAIN, ENOMEM}, 2},
                                             listed{"socketpair", {EMFILE, ENFILE, ENOMEM}, 3},
                                             listed{"sendmsg", {EINTR, EAGAIN, ENOBUFS, ENOMEM, ETOOMANYREFS}, 5},
                                             listed{"recvmsg", {EINTR, EAGAIN, ENOMEM}, 3},
                                             listed{"epoll_create1", {EMFILE, ENFILE, ENOMEM}, 3},
                                             listed{"epoll_ctl", {ENOMEM, ENOSPC}, 2},
                                             listed{"epoll_wait", {EINTR}, 1},
                                             listed{"eventfd", {EMFILE, ENFILE, ENOMEM}, 3},
                                             listed{"timerfd_create", {EMFILE, ENFILE, ENOMEM}, 3},
                                             listed{"posix_spawn", {EAGAIN, ENOMEM, EMFILE}, 3},
                                             listed{"duplicate", {EMFILE}, 1},
                                             listed{"pidfd_open", {EMFILE, ENFILE, ENOMEM}, 3},
                                             listed{"futex_wait", {EINTR, EAGAIN}, 2},
                                             listed{"pthread_create", {EAGAIN}, 1},
                                             listed{"open", {EMFILE, ENFILE, EINTR, ENOMEM}, 4},
                                             listed{"fopen", {EMFILE, ENOMEM}, 2},
                                             listed{"read", {EINTR, EAGAIN}, 2},
                                             listed{"write", {EINTR}, 1},
                                             listed{"ppoll", {EINTR, ENOMEM}, 2},
                                             listed{"waitid", {EINTR}, 1},
                                             listed{"nanosleep", {EINTR}, 1}};

std::atomic<bool> armed{false}, failed{false};
choice chosen;
std::array<std::atomic<int>, call_count> counted;

}  // namespace

const char* name_of(call c) noexcept { return all[static_cast<std::size_t>(c)].name; }
std::span<const int> errors_of(call c) noexcept {
  const listed& l = all[static_cast<std::size_t>(c)];
  return {l.errors, l.count};
}

void arm(const choice& c) noexcept {
  chosen = c;
  for (auto& n : counted) n.store(0);
  failed.store(false);
  armed.store(true);
}

bool disarm() noexcept {
  armed.store(false);
  return failed.load();
}

std::array<int, call_count> counts() noexcept {
  std::array<int, call_count> out{};
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = counted[i].load();
  return out;
}

bool fails(call c) noexcept {
  if (!armed.load()) return false;
  const int number = counted[static_cast<std::size_t>(c)].fetch_add(1) + 1;
  if (c != chosen.which || number != chosen.number) return false;
  failed.store(true);
  errno = chosen.error;
  return true;
}

}  // namespace failing
