// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/kinds.hpp>
#include <troupe/dnn/operations/pointwise/activation.hpp>
#include <troupe/dnn/operations/pooling/pooling.hpp>
#include <troupe/dnn/requests/computation.hpp>

/// Pooling, softmax, functions of elements, reductions and conversions as requests.
namespace troupe::dnn {

/// y = the maximum or the mean of each window of x.
struct pool_forward {
  in_any x;
  out_any y;
  per_axis window;
  pooling_kind kind = pooling_kind::maximum;
  per_axis padding = 0;         ///< zeros before the image; a maximum ignores them
  per_axis padding_after = {};  ///< zeros after the image; as many as `padding` if it is not given
  per_axis stride = {};         ///< the extents of the window if not given
  per_axis dilation = 1;
  computation_options options = {};
  TROUPE_REQUEST("dnn.pool_forward", x, y, window, kind, padding, padding_after, stride, dilation, options)
  computation sent() const;
};
/// dx = the gradient of x, computed from dy, the gradient of y. For a maximum, the gradient goes to the first maximum
/// of each window in row-major order.
struct pool_backward {
  in_any dy;
  out_any dx;
  per_axis window;
  std::optional<in_any> x = {};  ///< required for a maximum; not allowed for a mean
  pooling_kind kind = pooling_kind::maximum;
  per_axis padding = 0, padding_after = {}, stride = {}, dilation = 1;
  computation_options options = {};
  TROUPE_REQUEST("dnn.pool_backward", dy, dx, window, x, kind, padding, padding_after, stride, dilation, options)
  computation sent() const;
};

/// y = exp(x) divided by its sum along axis `over`; if `logarithmic`, y = the logarithm of this quotient.
struct softmax_forward {
  in_any x;
  out_any y;
  std::size_t over = 1;
  bool logarithmic = false;
  computation_options options = {};
  TROUPE_REQUEST("dnn.softmax_forward", x, y, over, logarithmic, options)
  computation sent() const;
};
/// dx = the gradient of x, computed from dy, the gradient of y. y must be what the forward request wrote.
struct softmax_backward {
  in_any dy, y;
  out_any dx;
  std::size_t over = 1;
  bool logarithmic = false;
  computation_options options = {};
  TROUPE_REQUEST("dnn.softmax_backward", dy, y, dx, over, logarithmic, options)
  computation sent() const;
};

/// y = activation(x).
struct activation_forward {
  in_any x;
  out_any y;
  dnn::activation activation;
  computation_options options = {};
  TROUPE_REQUEST("dnn.activation_forward", x, y, activation, options)
  computation sent() const;
};
/// dx = the gradient of x, computed from dy, the gradient of y, and from x or y. y suffices for relu, tanh, sigmoid and
/// softplus, and for leaky_relu and elu with a positive slope.
struct activation_backward {
  in_any dy;
  out_any dx;
  dnn::activation activation;
  std::optional<in_any> x = {}, y = {};  ///< exactly one of both
  computation_options options = {};
  TROUPE_REQUEST("dnn.activation_backward", dy, dx, activation, x, y, options)
  computation sent() const;
};

/// y = alpha * reduce(x) + beta * the old y. x is reduced along the axes along which y has extent 1.
struct reduction {
  in_any x;
  out_any y;
  reduction_kind kind = reduction_kind::sum;
  double alpha = 1, beta = 0;
  computation_options options = {};
  TROUPE_REQUEST("dnn.reduction", x, y, kind, alpha, beta, options)
  computation sent() const;
};
/// y = alpha * x + beta * the old y, rounded to the type of y. The strides of x and y may differ.
struct transform {
  in_any x;
  out_any y;
  double alpha = 1, beta = 0;
  computation_options options = {};
  TROUPE_REQUEST("dnn.transform", x, y, alpha, beta, options)
  computation sent() const;
};

}  // namespace troupe::dnn
