// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <troupe/base/linux/futex.hpp>

#include <cerrno>

namespace troupe {

bool futex_wait(const std::atomic<std::uint32_t>& word, std::uint32_t expected, futex_scope scope,
                std::int64_t deadline_ns) noexcept {
  // FUTEX_WAIT_BITSET takes an absolute time of the monotonic clock, so a spurious wake does not extend the wait.
  const int op = FUTEX_WAIT_BITSET | (scope == futex_scope::process ? FUTEX_PRIVATE_FLAG : 0);
  timespec until{};
  timespec* timeout = nullptr;
  if (deadline_ns != no_deadline) {
    const std::int64_t t = deadline_ns < 0 ? 0 : deadline_ns;
    until = {.tv_sec = t / 1'000'000'000, .tv_nsec = t % 1'000'000'000};
    timeout = &until;
  }
  const long rc = ::syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(&word), op, expected, timeout, nullptr,
                            FUTEX_BITSET_MATCH_ANY);
  return !(rc == -1 && errno == ETIMEDOUT);
}

void futex_wake(const std::atomic<std::uint32_t>& word, futex_scope scope, int count) noexcept {
  const int op = FUTEX_WAKE | (scope == futex_scope::process ? FUTEX_PRIVATE_FLAG : 0);
  ::syscall(SYS_futex, reinterpret_cast<const std::uint32_t*>(&word), op, count, nullptr, nullptr, 0);
}

}  // namespace troupe
