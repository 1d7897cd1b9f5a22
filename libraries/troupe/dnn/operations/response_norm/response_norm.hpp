// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/value.hpp>

namespace troupe::dnn {

/// Options of a normalization across neighboring channels.
struct response_norm_options {
  std::int64_t size = 5;  ///< number of channels in the sum: (size - 1) / 2 before the element's, its own, and the
                          ///< remaining ones after it
  double alpha = 1e-4;    ///< factor of the mean of the squares: alpha is divided by `size`, as in cuDNN
  double beta = 0.75;
  double k = 2;
};

/// Returns x / (k + alpha / size * sum)^beta, where the sum adds the squares in the neighboring channels at the same
/// position. Channels outside the image count as 0.
value local_response_norm(const value& x, const response_norm_options& o = {});
value local_response_norm_gradient(const value& dy, const value& x, const response_norm_options& o = {});

}  // namespace troupe::dnn
