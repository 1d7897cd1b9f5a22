// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/resampling/resampling.hpp>
#include <troupe/dnn/requests/computation.hpp>

/// Normalization across channels and resampling as requests.
namespace troupe::dnn {

/// y = x / (k + alpha / size * sum)^beta, where the sum adds the squares in `size` neighboring channels.
struct lrn_forward {
  in_any x;
  out_any y;
  std::int64_t size = 5;  ///< number of channels in the sum, see response_norm_options
  double alpha = 1e-4, beta = 0.75, k = 2;
  computation_options options = {};
  TROUPE_REQUEST("dnn.lrn_forward", x, y, size, alpha, beta, k, options)
  computation sent() const;
};
/// dx = the gradient of x, computed from dy, the gradient of y.
struct lrn_backward {
  in_any dy, x;
  out_any dx;
  std::int64_t size = 5;
  double alpha = 1e-4, beta = 0.75, k = 2;
  computation_options options = {};
  TROUPE_REQUEST("dnn.lrn_backward", dy, x, dx, size, alpha, beta, k, options)
  computation sent() const;
};

/// y = x, resampled to the spatial extents of y.
struct resample_forward {
  in_any x;
  out_any y;
  resampling_kind kind = resampling_kind::linear;
  bool aligned_corners = false;
  computation_options options = {};
  TROUPE_REQUEST("dnn.resample_forward", x, y, kind, aligned_corners, options)
  computation sent() const;
};
/// dx = the gradient of x, computed from dy, the gradient of y. dx has the extents of x.
struct resample_backward {
  in_any dy;
  out_any dx;
  resampling_kind kind = resampling_kind::linear;
  bool aligned_corners = false;
  computation_options options = {};
  TROUPE_REQUEST("dnn.resample_backward", dy, dx, kind, aligned_corners, options)
  computation sent() const;
};

}  // namespace troupe::dnn
