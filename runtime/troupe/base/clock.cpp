// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <sched.h>
#include <time.h>
#include <troupe/base/clock.hpp>

namespace troupe {

std::int64_t now_ns() noexcept {
  timespec t;
  ::clock_gettime(CLOCK_MONOTONIC, &t);
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

int usable_cores() noexcept {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return CPU_COUNT(&set);
}

std::uint32_t current_core() noexcept {
  const int core = ::sched_getcpu();
  return core < 0 ? 0 : static_cast<std::uint32_t>(core) + 1;
}

}  // namespace troupe
