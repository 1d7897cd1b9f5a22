// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/windows/windows.hpp>

namespace troupe::dnn {

/// Slides the filters over the image, without flipping them:
///   y[n, k, o] = sum of x[n, c, o * stride - padding + f * dilation] * filters[k, c, f]
/// x is images x channels x 1 to 3 spatial axes. The filters are K x channels of a group x as many spatial axes. Sums
/// of i8 are exact, and stored as i32.
value convolution(const value& x, const value& filters, const convolution_options& o = {});

/// Returns the gradient of x, computed from dy, the gradient of y. `of_x` are the extents of x.
value convolution_data_gradient(const value& dy, const value& filters, std::span<const std::int64_t> of_x,
                                const convolution_options& o = {});
inline value convolution_data_gradient(const value& dy, const value& filters, std::initializer_list<std::int64_t> of_x,
                                       const convolution_options& o = {}) {
  return convolution_data_gradient(dy, filters, std::span(of_x.begin(), of_x.size()), o);
}
/// Returns the gradient of the filters, computed from dy, the gradient of y. `of_filters` are the extents of the
/// filters.
value convolution_weight_gradient(const value& dy, const value& x, std::span<const std::int64_t> of_filters,
                                  const convolution_options& o = {});
inline value convolution_weight_gradient(const value& dy, const value& x,
                                         std::initializer_list<std::int64_t> of_filters,
                                         const convolution_options& o = {}) {
  return convolution_weight_gradient(dy, x, std::span(of_filters.begin(), of_filters.size()), o);
}
/// Does the same as convolution_data_gradient, where x is the gradient of y; the extents of the result follow from x.
/// Filters are (channels of x) x (channels of a group of the result) x spatial axes. Along each spatial axis, the
/// result has `more` elements beyond those that the windows cover.
value transposed_convolution(const value& x, const value& filters, const convolution_options& o = {},
                             per_axis more = 0);

}  // namespace troupe::dnn
