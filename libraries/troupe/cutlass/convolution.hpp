// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/gemm.hpp>
#include <troupe/windows/options.hpp>

/// Convolutions as implicit products, see docs/cutlass-convolutions.md.
namespace troupe::cutlass {

using windows::per_axis;

// Axes of images: image, channel, and 1 to 3 spatial axes. Axes of filters: filter, channel of a group, and the same
// spatial axes. Strides are arbitrary; with contiguous channels, images are NHWC. The factors have the types of `gemm`,
// except f4e2m1x2, and their products are summed as in `gemm`.
//
// The epilogue computes y and dx as a batch of matrices, one for each image: rows are spatial positions, with the last
// axis the fastest, and columns are channels; see `image_matrices`. It computes dfilters as one matrix: rows are
// filters, and columns are the elements of a filter, in their order in memory; see `filter_matrix`. A paired epilogue
// halves the channels of y or dx.

/// y = epilogue(convolution of x and filters), a cross-correlation: filters are not flipped.
///   y[n, k, o] = sum of x[n, c, o * stride - padding + f * dilation] * filters[k, c, f]
struct conv_forward {
  in_any x, filters;
  out_any y;
  epilogue::expression epilogue = product_as_it_is;
  per_axis padding = 0;         ///< zeros before the image along each axis
  per_axis padding_after = {};  ///< zeros after the image; `padding` if not given
  per_axis stride = 1, dilation = 1;
  std::int64_t groups = 1;  ///< number of groups of channels, each convolved separately
  product_options options = {};
  TROUPE_REQUEST("cutlass.conv_forward", x, filters, y, epilogue, padding, padding_after, stride, dilation, groups,
                 options)
  void check(checker&) const;
};

/// dx = epilogue(gradient of x), computed from dy, the gradient of y, and the filters.
struct conv_data_gradient {
  in_any dy, filters;
  out_any dx;
  epilogue::expression epilogue = product_as_it_is;
  per_axis padding = 0, padding_after = {}, stride = 1, dilation = 1;
  std::int64_t groups = 1;
  product_options options = {};
  TROUPE_REQUEST("cutlass.conv_data_gradient", dy, filters, dx, epilogue, padding, padding_after, stride, dilation,
                 groups, options)
  void check(checker&) const;
};

/// dfilters = epilogue(gradient of the filters), computed from dy, the gradient of y, and x.
struct conv_weight_gradient {
  in_any dy, x;
  out_any dfilters;
  epilogue::expression epilogue = product_as_it_is;
  per_axis padding = 0, padding_after = {}, stride = 1, dilation = 1;
  std::int64_t groups = 1;
  product_options options = {};
  TROUPE_REQUEST("cutlass.conv_weight_gradient", dy, x, dfilters, epilogue, padding, padding_after, stride, dilation,
                 groups, options)
  void check(checker&) const;
};

}  // namespace troupe::cutlass
