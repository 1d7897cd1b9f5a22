// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/value.hpp>

namespace troupe::dnn {

/// How an element is compared with its neighbours in other channels.
struct response_norm_options {
  std::int64_t size = 5;  ///< channels that are seen: (size - 1) / 2 before, the same, and the others after it
  double alpha = 1e-4;    ///< of the mean of squares: it is divided by `size`, as in cuDNN
  double beta = 0.75;
  double k = 2;
};

/// x / (k + alpha / size * sum)^beta, where the sum is that of the squares in the channels that an element sees at its
/// place. Channels beside the first and the last count as 0.
value local_response_norm(const value& x, const response_norm_options& o = {});
value local_response_norm_gradient(const value& dy, const value& x, const response_norm_options& o = {});

}  // namespace troupe::dnn
