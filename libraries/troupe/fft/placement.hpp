// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
// For our own sources: not installed, and not included by an installed header.
#pragma once

#include <troupe/fft/options.hpp>

namespace troupe::fft {

/// The positions of the elements of one side, for engines: element {i, j, k} of transform b is at b * distance + i *
/// stride[0] + j * stride[1] + k * stride[2]. Values that overflow are `extent::overflow()`.
struct placement {
  shape n;  ///< extents of this side; the complex side of a real transform has n / 2 + 1 along the last axis
  extent batch;
  extent stride[shape::most] = {0, 0, 0};
  extent distance;
  extent reach;    ///< elements from the first to the last position, including both
  bool dense;      ///< there are no gaps, and no two elements share a position
  bool separated;  ///< no two elements share a position
};

placement placement_of(const layout& l, const shape& n, extent batch);

/// Returns true if a transform between the two is a transform in place when both begin at the same address. `ratio` is
/// the size of an element of `b` in elements of `a`: 1, or 2 if `a` is the real side.
bool in_place(const placement& a, const placement& b, int ratio);

}  // namespace troupe::fft
