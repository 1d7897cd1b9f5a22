// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The time of day jumps by hours in both directions; the monotonic clock does not.
#include <sys/syscall.h>
#include <time.h>

#include <atomic>

#include "unkind.hpp"

using namespace unkind;

std::atomic<long> offset{0};

// Replaces the C library's function.
extern "C" int clock_gettime(clockid_t clock, timespec* at) noexcept {
  const auto got = static_cast<int>(::syscall(SYS_clock_gettime, clock, at));
  if (got == 0 && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) at->tv_sec += offset;
  return got;
}
extern "C" time_t time(time_t* at) noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  if (at != nullptr) *at = now.tv_sec;
  return now.tv_sec;
}

int main() {
  runtime rt;
  device_options o = options();
  o.run_timeout = 2s;
  o.heartbeat_timeout = 1s;
  const device gpu = rt.open_device(o);
  for (int i = 0; i < 60; ++i) {
    offset = i % 3 == 0 ? 0 : (i % 2 != 0 ? 3600L * 24 * 365 : -3600L * 24 * 365 * 40);
    expect_works(gpu, "after a jump", i);
    expect(gpu.ask(testing_actor::nap{.microseconds = 1000}, {.timeout = 5s}).get().has_value(),
           "no deadline has passed");
  }
  expect(gpu.statistics().faults == 0, "no healthy worker was replaced");
  kill_worker(gpu);
  expect_works(gpu, "after a fault");
  expect(gpu.statistics().faults == 1, "one worker was lost");
  return exit_code();
}
