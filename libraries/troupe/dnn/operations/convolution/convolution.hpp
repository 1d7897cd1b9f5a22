// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/operations/pointwise/activation.hpp>
#include <troupe/dnn/operations/windows/windows.hpp>
#include <troupe/dnn/requests/computation.hpp>

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

/// y = activation(alpha * convolution(x, filters) + beta * residual + bias). The bias has an element for each filter.
/// If beta is not 0 and `residual` is not given, y is also an input of the computation that is sent.
/// On a GPU, cuDNN may compute all of it in one kernel if x is f16 or bf16, or, with precision::tf32, f32 or an 8-bit
/// float; otherwise an elementwise kernel follows the convolution.
///   gpu.tell(dnn::conv_forward{.x = x, .filters = w, .y = y, .bias = b, .padding = 1});
struct conv_forward {
  in_any x, filters;
  out_any y;
  std::optional<in_any> bias = {};
  std::optional<in_any> residual = {};  ///< the old y if not given; not allowed if beta is 0
  double alpha = 1, beta = 0;
  dnn::activation activation = {};
  per_axis padding = 0;         ///< zeros before the image
  per_axis padding_after = {};  ///< zeros after the image; as many as `padding` if it is not given
  per_axis stride = 1, dilation = 1;
  std::int64_t groups = 1;  ///< number of groups of channels; each filter reads the channels of one group
  computation_options options = {};
  TROUPE_REQUEST("dnn.conv_forward", x, filters, y, bias, residual, alpha, beta, activation, padding, padding_after,
                 stride, dilation, groups, options)
  computation to_request() const;
};
/// dx = alpha * g + beta * dx, where g is the gradient of x, computed from dy, the gradient of y.
struct conv_data_backward {
  in_any dy, filters;
  out_any dx;
  double alpha = 1, beta = 0;
  per_axis padding = 0, padding_after = {}, stride = 1, dilation = 1;
  std::int64_t groups = 1;
  computation_options options = {};
  TROUPE_REQUEST("dnn.conv_data_backward", dy, filters, dx, alpha, beta, padding, padding_after, stride, dilation,
                 groups, options)
  computation to_request() const;
};
/// dfilters = alpha * the gradient of the filters, computed from dy, the gradient of y, + beta * the old dfilters.
struct conv_weight_backward {
  in_any dy, x;
  out_any dfilters;
  double alpha = 1, beta = 0;
  per_axis padding = 0, padding_after = {}, stride = 1, dilation = 1;
  std::int64_t groups = 1;
  computation_options options = {};
  TROUPE_REQUEST("dnn.conv_weight_backward", dy, x, dfilters, alpha, beta, padding, padding_after, stride, dilation,
                 groups, options)
  computation to_request() const;
};

}  // namespace troupe::dnn
