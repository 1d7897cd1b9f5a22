// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/pointwise/activation.hpp>
#include <troupe/dnn/requests/computation.hpp>

/// Normalizations as requests. Tensors may omit axes along which they have extent 1. The scale of
/// a layer or RMS normalization has the last `count` extents of x; other scales have an element for each channel. Mean
/// and inverse deviation have an element for each row, group or channel that is normalized.
namespace troupe::dnn {

/// y = (x - mean) / sqrt(variance + epsilon) * scale + offset, over the last `count` axes.
struct layer_norm_forward {
  in_any x;
  out_any y;
  std::optional<in_any> scale = {}, offset = {};  ///< both, or neither
  std::size_t count = 1;
  double epsilon = 1e-5;
  std::optional<out_any> mean = {}, inverse_deviation = {};  ///< for the gradient
  computation_options options = {};
  TROUPE_REQUEST("dnn.layer_norm_forward", x, y, scale, offset, count, epsilon, mean, inverse_deviation, options)
  computation to_request() const;
};
/// The gradients, computed from dy, the gradient of y. `mean` and `inverse_deviation` must be what the forward request
/// wrote.
struct layer_norm_backward {
  in_any dy, x, mean, inverse_deviation;
  out_any dx;
  std::optional<in_any> scale = {};
  std::optional<out_any> dscale = {}, doffset = {};  ///< only with a scale
  std::size_t count = 1;
  computation_options options = {};
  TROUPE_REQUEST("dnn.layer_norm_backward", dy, x, mean, inverse_deviation, dx, scale, dscale, doffset, count, options)
  computation to_request() const;
};

/// y = x / sqrt(mean of the squares + epsilon) * scale, over the last `count` axes.
struct rms_norm_forward {
  in_any x;
  out_any y;
  std::optional<in_any> scale = {};
  std::size_t count = 1;
  double epsilon = 1e-5;
  std::optional<out_any> inverse_deviation = {};  ///< for the gradient
  computation_options options = {};
  TROUPE_REQUEST("dnn.rms_norm_forward", x, y, scale, count, epsilon, inverse_deviation, options)
  computation to_request() const;
};
/// The gradients, computed from dy, the gradient of y. `inverse_deviation` must be what the forward request wrote.
struct rms_norm_backward {
  in_any dy, x, inverse_deviation;
  out_any dx;
  std::optional<in_any> scale = {};
  std::optional<out_any> dscale = {};  ///< only with a scale
  std::size_t count = 1;
  computation_options options = {};
  TROUPE_REQUEST("dnn.rms_norm_backward", dy, x, inverse_deviation, dx, scale, dscale, count, options)
  computation to_request() const;
};

/// y = (x - mean) / sqrt(variance + epsilon) * scale + offset, over groups of neighboring channels of each image. With
/// one channel in each group, this is an instance normalization.
struct group_norm_forward {
  in_any x;
  out_any y;
  std::int64_t groups;
  std::optional<in_any> scale = {}, offset = {};  ///< both, or neither
  double epsilon = 1e-5;
  std::optional<out_any> mean = {}, inverse_deviation = {};  ///< image x group, for the gradient
  computation_options options = {};
  TROUPE_REQUEST("dnn.group_norm_forward", x, y, groups, scale, offset, epsilon, mean, inverse_deviation, options)
  computation to_request() const;
};
/// The gradients, computed from dy, the gradient of y. `mean` and `inverse_deviation` must be what the forward request
/// wrote.
struct group_norm_backward {
  in_any dy, x, mean, inverse_deviation;
  out_any dx;
  std::int64_t groups;
  std::optional<in_any> scale = {};
  std::optional<out_any> dscale = {}, doffset = {};  ///< only with a scale
  computation_options options = {};
  TROUPE_REQUEST("dnn.group_norm_backward", dy, x, mean, inverse_deviation, dx, groups, scale, dscale, doffset, options)
  computation to_request() const;
};

/// y = (x - mean) / sqrt(variance + epsilon) * scale + offset, over each channel of each image.
struct instance_norm_forward {
  in_any x;
  out_any y;
  std::optional<in_any> scale = {}, offset = {};  ///< both, or neither
  double epsilon = 1e-5;
  std::optional<out_any> mean = {}, inverse_deviation = {};  ///< image x channel, for the gradient
  computation_options options = {};
  TROUPE_REQUEST("dnn.instance_norm_forward", x, y, scale, offset, epsilon, mean, inverse_deviation, options)
  computation to_request() const;
};
/// The gradients, computed from dy, the gradient of y. `mean` and `inverse_deviation` must be what the forward request
/// wrote.
struct instance_norm_backward {
  in_any dy, x, mean, inverse_deviation;
  out_any dx;
  std::optional<in_any> scale = {};
  std::optional<out_any> dscale = {}, doffset = {};  ///< only with a scale
  computation_options options = {};
  TROUPE_REQUEST("dnn.instance_norm_backward", dy, x, mean, inverse_deviation, dx, scale, dscale, doffset, options)
  computation to_request() const;
};

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
  computation to_request() const;
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
  computation to_request() const;
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
  computation to_request() const;
};

}  // namespace troupe::dnn
