// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// The processor time that the application and the worker use without requests, right after work; compared with a
// sleeping process.
#include <unistd.h>
#include <algorithm>
#include <bench/device_under_test.hpp>
#include <bench/host/ping_pong.hpp>
#include <bench/measures.hpp>
#include <bench/system/cpu_time.hpp>
#include <cstdio>

namespace troupe::bench {
namespace {

constexpr std::int64_t idle_ns = 5'000'000'000;

double ms_between(std::int64_t before, std::int64_t after) { return static_cast<double>(after - before) / 1e6; }

void work(const device& gpu) {
  const auto x = gpu.alloc<float>(1 << 20);
  for (int i = 0; i < 200; ++i) {
    gpu.fill(x, static_cast<float>(i));
    gpu.ping().get().value();
  }
  gpu.download(x).then([](result<std::vector<float>> r) { return r.has_value(); }).get().value();
}

}  // namespace

figures run_idle_cpu(const settings& s) {
  const device_under_test gpu(s);
  const ping_pong asleep(false);
  const int worker = gpu->statistics().worker_pid.value(), us = ::getpid(), other = asleep.peer_pid();
  await_quiet(us);  // waits for threads of earlier measures
  work(*gpu);
  const std::int64_t worker_before = cpu_ns(worker), us_before = cpu_ns(us), other_before = cpu_ns(other);
  sleep_ns(idle_ns);
  const std::int64_t worker_after = cpu_ns(worker), us_after = cpu_ns(us), other_after = cpu_ns(other);
  if (std::min({worker_before, us_before, other_before, worker_after, us_after, other_after}) < 0)
    return {.objection = "a process that should have slept has ended"};
  const double worker_ms = ms_between(worker_before, worker_after), us_ms = ms_between(us_before, us_after);
  char note[100];
  std::snprintf(note, sizeof note, "application %.3f ms, worker %.3f ms", us_ms, worker_ms);
  return {.ours = std::max(us_ms, worker_ms), .raw = ms_between(other_before, other_after), .note = note};
}

}  // namespace troupe::bench
