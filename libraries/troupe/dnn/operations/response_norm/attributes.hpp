// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::dnn {

/// The attributes of a normalization across channels, and of its gradient, whose inputs are dy and x: x / (k + alpha /
/// size * sum)^beta. The sum is that of the squares in `size` channels, (size - 1) / 2 of which precede the element's.
struct local_response_norm_attributes {
  std::int64_t size;
  double alpha, beta, k;
};

}  // namespace troupe::dnn
