// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <bench/system/cpu_time.hpp>
#include <ctime>

namespace troupe::bench {

std::int64_t cpu_ns(int pid) noexcept {
  clockid_t clock;
  timespec t;
  if (::clock_getcpuclockid(pid, &clock) != 0 || ::clock_gettime(clock, &t) != 0) return -1;
  return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
}

void await_quiet(int pid) noexcept {
  constexpr std::int64_t look = 10'000'000, quiet = 200'000;
  std::int64_t before = cpu_ns(pid);
  for (int i = 0; i < 100; ++i) {
    sleep_ns(look);
    const std::int64_t now = cpu_ns(pid);
    if (now - before < quiet) return;
    before = now;
  }
}

void sleep_ns(std::int64_t ns) noexcept {
  timespec t{.tv_sec = static_cast<std::time_t>(ns / 1'000'000'000), .tv_nsec = static_cast<long>(ns % 1'000'000'000)};
  while (::nanosleep(&t, &t) != 0) {
  }
}

}  // namespace troupe::bench
