// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <troupe/fft/options.hpp>

namespace troupe::fft {

/// Returns the factor by which the results of a transform with these extents are multiplied.
inline double factor_of(normalization n, bool forward, const shape& size) {
  const auto count = static_cast<double>(size.count().value());
  switch (n) {
    case normalization::inverse:
      return forward ? 1 : 1 / count;
    case normalization::orthonormal:
      return 1 / std::sqrt(count);
    case normalization::forward:
      return forward ? 1 / count : 1;
    default:
      return 1;
  }
}

}  // namespace troupe::fft
