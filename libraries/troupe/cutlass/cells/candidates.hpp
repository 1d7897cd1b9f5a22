// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/result.hpp>
#include <troupe/cutlass/cells/chip.hpp>
#include <troupe/cutlass/cells/form.hpp>
#include <vector>

namespace troupe::cutlass {

struct extents {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
};

/// A plan without anything left open, and what the cost model expects of it.
struct candidate {
  cutlass::plan plan;
  double microseconds = 0;
  double efficiency = 1;  ///< of waves: how much of the multiprocessors' time is used
};

/// Returns the plans that can compute this, the best first. `wanted` has choices of the user. Fails with `unsupported`
/// if there is none, with the reason, and the nearest that there is.
result<std::vector<candidate>> candidates_for(const whole_form& f, const extents& e, const chip& on,
                                              const plan& wanted);

}  // namespace troupe::cutlass
