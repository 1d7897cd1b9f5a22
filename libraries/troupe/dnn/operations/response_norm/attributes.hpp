// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe::dnn {

/// The attributes of a normalization across channels, x / (k + alpha / size * sum)^beta, and of its gradient, whose
/// inputs are dy and x. The sum adds the squares in `size` channels; (size - 1) / 2 of them precede the element's
/// channel.
struct local_response_norm_attributes {
  std::int64_t size;
  double alpha, beta, k;
};

}  // namespace troupe::dnn
