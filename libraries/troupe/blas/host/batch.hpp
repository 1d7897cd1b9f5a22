// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <troupe/base/threads/thread_team.hpp>

namespace troupe::blas {

/// Calls solve(i) for `count` problems of `work` multiplications each. Small problems, for which OpenBLAS uses one
/// core, are spread over all cores; larger ones run one after the other, each on all cores.
template <class F>
void each_of_batch(thread_team& all, std::int64_t count, double work, F&& solve) {
  constexpr double small = 64 * 64 * 64, worth_a_thread = 100'000;
  if (work > small || work * static_cast<double>(count) < 2 * worth_a_thread) {
    for (std::int64_t i = 0; i < count; ++i) solve(i);
    return;
  }
  all.spread(count, std::max<std::int64_t>(1, static_cast<std::int64_t>(worth_a_thread / work)), solve);
}

}  // namespace troupe::blas
