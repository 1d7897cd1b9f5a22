// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/clock.hpp>
#include <vector>

namespace troupe::bench {

/// Returns the median; of an even number of values, the mean of the middle two.
double median(std::vector<double> values);
/// Returns the smallest value that `share` of all values do not exceed; 0.99 for the 99th percentile.
double percentile(std::vector<double> values, double share);

/// Returns the median time of `count` calls, in microseconds; appends all times to `all`.
template <class F>
double median_of_each(int count, std::vector<double>& all, F&& once) {
  std::vector<double> now;
  for (int i = 0; i < count; ++i) {
    const std::int64_t start = now_ns();
    once();
    now.push_back(static_cast<double>(now_ns() - start) / 1e3);
  }
  all.insert(all.end(), now.begin(), now.end());
  return median(std::move(now));
}

struct pair_of_medians {
  double ours, raw;
};

/// Measures both sides alternately; which one is first alternates, too. A first round does not count. Returns the
/// median of each side. `begin` is called after the first round, to discard other data collected in it.
template <class Ours, class Raw, class Begin = decltype([] {})>
pair_of_medians interleaved(int rounds, Ours&& ours, Raw&& raw, Begin&& begin = {}) {
  std::vector<double> a, b;
  for (int i = -1; i < rounds; ++i) {
    double x, y;
    if (i % 2 == 0) {
      x = ours();
      y = raw();
    } else {
      y = raw();
      x = ours();
    }
    if (i < 0) {
      begin();
      continue;
    }
    a.push_back(x);
    b.push_back(y);
  }
  return {median(std::move(a)), median(std::move(b))};
}

}  // namespace troupe::bench
