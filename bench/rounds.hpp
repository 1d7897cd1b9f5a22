// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/clock.hpp>
#include <vector>

namespace troupe::bench {

/// The middle value; the mean of the two in the middle of an even number.
double median(std::vector<double> values);
/// The value that `share` of all are not above; 0.99 for the 99th percentile.
double percentile(std::vector<double> values, double share);

/// The median of `count`, in microseconds; all of them go to `all` as well.
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

/// Measures both in turn, who goes first changing with every round, after one round that does not count; the medians of
/// each. `begin` is called after that first round: to forget what else was collected in it.
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
