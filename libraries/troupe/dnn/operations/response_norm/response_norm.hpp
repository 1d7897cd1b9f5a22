// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/value.hpp>
#include <troupe/dnn/requests/computation.hpp>

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

/// y = x / (k + alpha / size * sum)^beta, where the sum adds the squares in `size` neighboring channels.
struct lrn_forward {
  in_any x;
  out_any y;
  std::int64_t size = 5;  ///< number of channels in the sum, see response_norm_options
  double alpha = 1e-4, beta = 0.75, k = 2;
  computation_options options = {};
  TROUPE_REQUEST("dnn.lrn_forward", x, y, size, alpha, beta, k, options)
  computation to_request() const;
};
/// dx = the gradient of x, computed from dy, the gradient of y.
struct lrn_backward {
  in_any dy, x;
  out_any dx;
  std::int64_t size = 5;
  double alpha = 1e-4, beta = 0.75, k = 2;
  computation_options options = {};
  TROUPE_REQUEST("dnn.lrn_backward", dy, x, dx, size, alpha, beta, k, options)
  computation to_request() const;
};

}  // namespace troupe::dnn
