// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/pointwise/activation.hpp>
#include <troupe/dnn/requests/computation.hpp>

/// Batch normalization as requests. Scale, offset and all statistics have an element for each channel: they are
/// vectors, or 1 x channels x 1 ...
namespace troupe::dnn {

/// y = (x - mean) / sqrt(variance + epsilon) * scale + offset, with the statistics of each channel of this batch.
/// The running averages are replaced by (1 - momentum) * the old average + momentum * the mean, or the unbiased
/// variance, of this batch.
struct batch_norm_training {
  in_any x;
  out_any y;
  std::optional<in_any> scale = {}, offset = {};                      ///< both, or neither
  std::optional<inout_any> running_mean = {}, running_variance = {};  ///< both, or neither
  std::optional<out_any> mean = {}, inverse_deviation = {};           ///< of this batch; the gradient reads them
  double epsilon = 1e-5, momentum = 0.1;
  computation_options options = {};
  TROUPE_REQUEST("dnn.batch_norm_training", x, y, scale, offset, running_mean, running_variance, mean,
                 inverse_deviation, epsilon, momentum, options)
  computation sent() const;
};

/// y = activation((x - mean) / sqrt(variance + epsilon) * scale + offset), with statistics that are given.
struct batch_norm_inference {
  in_any x, mean, variance;
  out_any y;
  std::optional<in_any> scale = {}, offset = {};  ///< both, or neither
  dnn::activation activation = {};
  double epsilon = 1e-5;
  computation_options options = {};
  TROUPE_REQUEST("dnn.batch_norm_inference", x, mean, variance, y, scale, offset, activation, epsilon, options)
  computation sent() const;
};

/// The gradients of x, scale and offset, computed from dy, the gradient of y. `mean` and `inverse_deviation` must be
/// what the training request wrote.
struct batch_norm_backward {
  in_any dy, x, mean, inverse_deviation;
  out_any dx;
  std::optional<in_any> scale = {};
  std::optional<out_any> dscale = {}, doffset = {};  ///< only with a scale
  computation_options options = {};
  TROUPE_REQUEST("dnn.batch_norm_backward", dy, x, mean, inverse_deviation, dx, scale, dscale, doffset, options)
  computation sent() const;
};

}  // namespace troupe::dnn
