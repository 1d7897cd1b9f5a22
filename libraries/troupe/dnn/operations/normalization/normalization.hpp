// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <troupe/dnn/graph/value.hpp>

namespace troupe::dnn {

/// Results of a normalization. The gradient needs `mean` and `inverse_deviation`, which have the extent 1 along each
/// axis over which the statistics are taken.
struct normalized {
  value y, mean, inverse_deviation;
};
/// The factor and the summand of each normalized element. Each extent of these tensors must be that of x, or 1. One of
/// them may be a number.
struct affine {
  value scale, offset = 0;
};

/// Returns (x - mean) / sqrt(variance + epsilon) * scale + offset, with statistics over the axes `over`.
normalized normalize(const value& x, std::span<const std::size_t> over, double epsilon,
                     const std::optional<affine>& a = {});
/// Normalizes over the last `count` axes.
normalized layer_norm(const value& x, std::size_t count, double epsilon, const std::optional<affine>& a = {});
/// Normalizes each channel of each image: over its spatial axes.
normalized instance_norm(const value& x, double epsilon, const std::optional<affine>& a = {});
/// Normalizes each group of neighboring channels of each image: over its channels and spatial axes.
normalized group_norm(const value& x, std::int64_t groups, double epsilon, const std::optional<affine>& a = {});
/// Returns (x - mean) / sqrt(variance + epsilon) * scale + offset, with given statistics: a batch normalization after
/// training, for example. Each extent of the statistics must be that of x, or 1.
value normalize_with(const value& x, const value& mean, const value& variance, double epsilon,
                     const std::optional<affine>& a = {});
/// Normalizes over the last `count` axes without a mean: x / sqrt(mean of squares + epsilon), times scale.
normalized rms_norm(const value& x, std::size_t count, double epsilon, const std::optional<value>& scale = {});

/// Running averages over many batches. The next mean is (1 - momentum) * mean + momentum * mean of this batch; the next
/// variance is computed likewise, from the unbiased variance of this batch.
struct running_averages {
  value mean, variance;
  double momentum = 0.1;
};
/// Results of a batch normalization: y and its statistics, and the next running averages.
struct batch_normalized : normalized {
  value next_mean, next_variance;  ///< refused if no running averages were given
};
/// Normalizes each channel: over all images and spatial axes. Scale and offset are 1 x channels x 1 ...
batch_normalized batch_norm(const value& x, double epsilon, const std::optional<affine>& a = {},
                            const std::optional<running_averages>& running = {});

/// The gradients of the inputs of a normalization.
struct normalization_gradients {
  value dx, dscale, doffset;  ///< dscale and doffset are refused if there was no scale or offset
};
/// Returns the gradients of the inputs, computed from dy, the gradient of y. `of` must be the result of the
/// normalization of the same x; its mean and inverse deviation are used. The axes along which these have extent 1 are
/// those over which x was normalized.
normalization_gradients normalization_gradient(const value& dy, const value& x, const normalized& of,
                                               const std::optional<value>& scale = {});
normalization_gradients rms_norm_gradient(const value& dy, const value& x, const normalized& of,
                                          const std::optional<value>& scale = {});

}  // namespace troupe::dnn
