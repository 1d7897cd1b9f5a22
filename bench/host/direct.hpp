// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <unistd.h>
#include <bench/device_under_test.hpp>
#include <bench/rounds.hpp>
#include <bench/system/cpu_time.hpp>
#include <cmath>
#include <random>
#include <troupe/base/clock.hpp>

/// Large requests through the worker, compared with the same calls of the same library in this process. Both libraries
/// have threads that may spin after a call, so each side waits until the other one is idle. Requests that take less
/// than a millisecond are sent several times and awaited once, as in real computations: ask.empty measures the cost of
/// one wait.
namespace troupe::bench {

template <class T>
std::vector<T> random_values(std::int64_t n, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<T> value(-1, 1);
  std::vector<T> out(static_cast<std::size_t>(n));
  for (T& v : out) v = value(random);
  return out;
}

template <class T>
buffer<T> uploaded(const device_under_test& gpu, const std::vector<T>& values) {
  auto b = gpu->alloc<T>(values.size());
  gpu->upload(b, values);
  return b;
}

template <class T>
std::string difference(const std::vector<T>& ours, const std::vector<T>& raw, double allowed) {
  for (std::size_t i = 0; i < ours.size(); ++i)
    if (!(std::abs(double{ours[i]} - double{raw[i]}) <= allowed)) return "the results differ";
  return {};
}

// Measures the rates of `work` in units of 1e9 per second: `request` sent `times` times with a wait for the last
// answer, and as many calls of `direct()`.
template <class R, class Direct>
figures against(const settings& s, const device_under_test& gpu, int rounds, int times, double work, const R& request,
                Direct&& direct) {
  const int worker = gpu->statistics().worker_pid.value();
  gpu->sync().get().value();
  const auto quiet = [worker] { await_quiet(worker), await_quiet(::getpid()); };
  const auto timed = [&](auto&& f) {
    quiet();
    const std::int64_t start = now_ns();
    f();
    return times * work / static_cast<double>(now_ns() - start);
  };
  const pair_of_medians found = interleaved(
      s.rounds(rounds), [&] { return timed([&] { run_queued(*gpu, request, times); }); },
      [&] {
        return timed([&] {
          for (int i = 0; i < times; ++i) direct();
        });
      });
  return {.ours = found.ours, .raw = found.raw};
}

}  // namespace troupe::bench
