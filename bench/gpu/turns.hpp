// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <bench/measure.hpp>
#include <bench/rounds.hpp>
#include <cmath>
#include <span>
#include <troupe/device/device.hpp>

/// Requests in turns with raw calls, each with its own operands.
namespace troupe::bench {

/// Sends `times` requests, from a list that repeats, and waits for the last one.
template <class R>
void run_in_turn(const device& gpu, std::span<const R> requests, int times) {
  for (int i = 0; i < times - 1; ++i) gpu.tell(requests[static_cast<std::size_t>(i) % requests.size()]);
  gpu.ask(requests[static_cast<std::size_t>(times - 1) % requests.size()]).get().value();
}

/// Returns the seconds of one request and of one call of `raw(i)`, for which `wait()` waits. Each side runs `times` of
/// them in its turn; the requests are used in order and repeat.
template <class R, class Raw, class Wait>
pair_of_medians seconds_of_each(int rounds, const device& gpu, std::span<const R> requests, int times, Raw&& raw,
                                Wait&& wait) {
  const auto each = [times](std::int64_t start) { return static_cast<double>(now_ns() - start) / 1e9 / times; };
  const int count = static_cast<int>(requests.size());
  return interleaved(
      rounds,
      [&] {
        const std::int64_t start = now_ns();
        run_in_turn(gpu, requests, times);
        return each(start);
      },
      [&] {
        const std::int64_t start = now_ns();
        for (int i = 0; i < times; ++i) raw(i % count);
        wait();
        return each(start);
      });
}

/// Returns how many requests take a tenth of a second: a GPU may take a millisecond to switch to another process. On
/// the host engine, which tests use, a few are enough.
template <class R>
int times_of_turn(const settings& s, const device& gpu, std::span<const R> requests) {
  if (s.engine == "host") return static_cast<int>(requests.size());
  constexpr double turn = 0.1;
  constexpr int most = 8000;  // less than the mailboxes of these measures hold
  run_in_turn(gpu, requests, 3);
  for (int times = 3;; times *= 4) {
    const std::int64_t start = now_ns();
    run_in_turn(gpu, requests, times);
    const double took = static_cast<double>(now_ns() - start) / 1e9;
    if (took > turn / 10 || 4 * times > most)
      return static_cast<int>(std::clamp(times * turn / took, static_cast<double>(requests.size()), double{most}));
  }
}

/// Returns how many copies of operands with this number of bytes a level-2 cache cannot hold.
inline int copies_beyond_cache(double bytes) {
  constexpr double of_all = 256 << 20;  // several times the largest level-2 cache of the GPUs measured here
  return static_cast<int>(std::clamp(std::ceil(of_all / bytes), 2., 64.));
}

}  // namespace troupe::bench
