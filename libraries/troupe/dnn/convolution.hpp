// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/windows.hpp>

namespace troupe::dnn {

/// The geometry of a convolution.
struct convolution_options {
  per_axis padding = 0;         ///< zeros before the image
  per_axis padding_after = {};  ///< after the image; not given: as before it
  per_axis stride = 1, dilation = 1;
  std::int64_t groups = 1;  ///< number of groups of channels; each filter reads the channels of one group
};

/// Slides the filters over the image, without flipping them:
///   y[n, k, o] = sum of x[n, c, o * stride - padding + f * dilation] * filters[k, c, f]
/// x is image x channel x 1 to 3 spatial axes, filters are K x channels of a group x the same; i8 is summed in i32.
value convolution(const value& x, const value& filters, const convolution_options& o = {});

/// Returns the gradient of x, whose extents are `of_x`, from that of y.
value convolution_data_gradient(const value& dy, const value& filters, std::span<const std::int64_t> of_x,
                                const convolution_options& o = {});
inline value convolution_data_gradient(const value& dy, const value& filters, std::initializer_list<std::int64_t> of_x,
                                       const convolution_options& o = {}) {
  return convolution_data_gradient(dy, filters, std::span(of_x.begin(), of_x.size()), o);
}
/// Returns the gradient of the filters, whose extents are `of_filters`, from that of y.
value convolution_weight_gradient(const value& dy, const value& x, std::span<const std::int64_t> of_filters,
                                  const convolution_options& o = {});
inline value convolution_weight_gradient(const value& dy, const value& x,
                                         std::initializer_list<std::int64_t> of_filters,
                                         const convolution_options& o = {}) {
  return convolution_weight_gradient(dy, x, std::span(of_filters.begin(), of_filters.size()), o);
}
/// Does the same as convolution_data_gradient, by another name: filters are channels of x x channels of a group of y x
/// spatial, and y has `more` elements beyond what the windows need, along each spatial axis.
value transposed_convolution(const value& x, const value& filters, const convolution_options& o = {},
                             per_axis more = 0);

}  // namespace troupe::dnn
