// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/measure.hpp>
#include <bench/rounds.hpp>
#include <cstdio>
#include <string>
#include <troupe/base/clock.hpp>
#include <troupe/base/text/cat.hpp>
#include <troupe/device/device.hpp>
#include <vector>

namespace troupe::bench {

/// Sends all requests with tell and waits until all are done, in turns with as many calls of `raw_one(i)` and a call of
/// `raw_wait()`. The rates are requests per microsecond.
template <class R, class One, class Wait>
figures burst(int rounds, const device& gpu, const std::vector<R>& requests, One&& raw_one, Wait&& raw_wait) {
  const auto count = static_cast<double>(requests.size());
  int refused = 0;
  std::vector<double> callers_ns;
  const auto rate = [count](std::int64_t start) { return count * 1e3 / static_cast<double>(now_ns() - start); };
  const pair_of_medians found = interleaved(
      rounds,
      [&] {
        gpu.ping().get().value();
        const std::int64_t start = now_ns();
        for (const R& r : requests) refused += !gpu.tell(r);
        callers_ns.push_back(static_cast<double>(now_ns() - start) / count);
        gpu.sync().get().value();
        return rate(start);
      },
      [&] {
        const std::int64_t start = now_ns();
        for (int i = 0; i < static_cast<int>(requests.size()); ++i) raw_one(i);
        raw_wait();
        return rate(start);
      });
  figures f{.ours = found.ours, .raw = found.raw};
  char text[60];
  std::snprintf(text, sizeof text, "a tell costs its caller %.0f ns", median(std::move(callers_ns)));
  f.note = text;
  if (refused != 0) f.objection = cat(refused, " requests were refused");
  return f;
}

}  // namespace troupe::bench
