// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <troupe/dnn/value.hpp>

namespace troupe::dnn {

/// What a normalisation gives. The mean and the inverse of the deviation are wanted by its gradient; they have extent 1
/// in the indexes that they are taken over.
struct normalized {
  value y, mean, inverse_deviation;
};
/// The factor and what is added for each element: their extents are those of x, or 1.
struct affine {
  value scale, offset;
};

/// (x - mean) / sqrt(variance + epsilon), times scale plus offset, with statistics over the given indexes.
normalized normalize(const value& x, std::span<const std::size_t> over, double epsilon,
                     const std::optional<affine>& a = {});
/// Over the last `count` indexes.
normalized layer_norm(const value& x, std::size_t count, double epsilon, const std::optional<affine>& a = {});
/// Over the spatial indexes of each channel of each image.
normalized instance_norm(const value& x, double epsilon, const std::optional<affine>& a = {});
/// The same over groups of neighbouring channels.
normalized group_norm(const value& x, std::int64_t groups, double epsilon, const std::optional<affine>& a = {});
/// Over the last `count` indexes, without a mean: x / sqrt(mean of squares + epsilon), times scale.
normalized rms_norm(const value& x, std::size_t count, double epsilon, const std::optional<value>& scale = {});

/// Averages over many batches: `next = (1 - momentum) * mean + momentum * mean of this batch`, and likewise of the
/// unbiased variance.
struct running_averages {
  value mean, variance;
  double momentum = 0.1;
};
/// The same, and the next averages.
struct batch_normalized : normalized {
  value next_mean, next_variance;  ///< refused if no averages were given
};
/// Over all images and spatial indexes of each channel; scale and offset are 1 x channels x 1 ...
batch_normalized batch_norm(const value& x, double epsilon, const std::optional<affine>& a = {},
                            const std::optional<running_averages>& running = {});

/// The gradients of what the normalisation of the same x was given.
struct normalization_gradients {
  value dx, dscale, doffset;  ///< the last two are refused where there was none
};
/// `of` is what was computed from x: its mean and inverse deviation, over the indexes where they have extent 1.
normalization_gradients normalization_gradient(const value& dy, const value& x, const normalized& of,
                                               const std::optional<value>& scale = {});
normalization_gradients rms_norm_gradient(const value& dy, const value& x, const normalized& of,
                                          const std::optional<value>& scale = {});

}  // namespace troupe::dnn
