// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// For our own sources: not installed, and included by no header that is.
#pragma once

#include <troupe/fft/options.hpp>

namespace troupe::fft {

/// Where the elements of one side lie, as engines need it: element {i, j, k} of transform b at
/// b * distance + i * stride[0] + j * stride[1] + k * stride[2]. Extents that overflow stay `extent::overflow()`.
struct placement {
  shape n;  ///< of this side: half of the transform's, for the complex side of a real one
  extent batch;
  extent stride[shape::most] = {0, 0, 0};
  extent distance;
  extent reach;    ///< elements from the first to the last, both included
  bool dense;      ///< without gaps, each element once
  bool separated;  ///< no element belongs to two places: sizes times steps nest
};

placement placement_of(const layout& l, const shape& n, extent batch);

/// Is a transform between them one in place, when both begin at the same address? `ratio`: elements of `a` that are as
/// large as one of `b`: 1, or 2 where `a` is the real side.
bool in_place(const placement& a, const placement& b, int ratio);

}  // namespace troupe::fft
