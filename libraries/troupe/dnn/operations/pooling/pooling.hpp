// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/kinds.hpp>
#include <troupe/dnn/operations/windows/windows.hpp>
#include <troupe/dnn/requests/computation.hpp>

namespace troupe::dnn {

/// The slide of a pooling window.
struct pooling_options {
  per_axis padding = 0;         ///< zeros before the image; a maximum ignores them
  per_axis padding_after = {};  ///< zeros after the image; as many as `padding` if it is not given
  per_axis stride = {};         ///< the extents of the window if not given, so that windows do not overlap
  per_axis dilation = 1;
};

/// Returns the largest element of each window. Each window must contain an element of the image.
value max_pool(const value& x, per_axis window, const pooling_options& o = {});
/// Returns the mean of each window. Padding counts as zeros if `counts_padding` is true, otherwise it is left out.
value mean_pool(const value& x, per_axis window, const pooling_options& o = {}, bool counts_padding = true);
/// The result of max_pool, and for each maximum its index in its image, as i32, in row-major order of the spatial axes.
struct pooled {
  value y, indexes;
};
pooled max_pool_with_indexes(const value& x, per_axis window, const pooling_options& o = {});

/// Returns the gradient of x, computed from dy, the gradient of y: it goes to the first maximum of each window in
/// row-major order.
value max_pool_gradient(const value& dy, const value& x, per_axis window, const pooling_options& o = {});
/// Returns the same gradient, computed from the indexes that max_pool_with_indexes returned, without x. `of_x` are the
/// extents of x. An index that is outside its window is ignored.
value max_pool_index_gradient(const value& dy, const value& indexes, std::span<const std::int64_t> of_x,
                              per_axis window, const pooling_options& o = {});
value mean_pool_gradient(const value& dy, std::span<const std::int64_t> of_x, per_axis window,
                         const pooling_options& o = {}, bool counts_padding = true);

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
  computation to_request() const;
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
  computation to_request() const;
};

}  // namespace troupe::dnn
