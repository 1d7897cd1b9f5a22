// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/windows.hpp>

namespace troupe::dnn {

/// The geometry of a pooling window.
struct pooling_options {
  per_axis padding = 0;         ///< before the image
  per_axis padding_after = {};  ///< after the image; not given: as before it
  per_axis stride = {};         ///< not given: the window, so that windows do not overlap
  per_axis dilation = 1;
};

/// Returns the largest element of each window. Each window must contain an element of the image.
value max_pool(const value& x, per_axis window, const pooling_options& o = {});
/// Returns the mean of each window. The padding counts as zeros, or not at all.
value mean_pool(const value& x, per_axis window, const pooling_options& o = {}, bool counts_padding = true);
/// The result of max_pool, and the positions of its elements: i32, in row-major order of the image's spatial axes.
struct pooled {
  value y, indexes;
};
pooled max_pool_with_indexes(const value& x, per_axis window, const pooling_options& o = {});

/// Returns the gradient of x from that of y. That of a maximum goes to its first element in row-major order.
value max_pool_gradient(const value& dy, const value& x, per_axis window, const pooling_options& o = {});
/// Computes the same from the positions that the forward pass returned, without x. `of_x` are the extents of x. A
/// position outside its window is ignored.
value max_pool_index_gradient(const value& dy, const value& indexes, std::span<const std::int64_t> of_x,
                              per_axis window, const pooling_options& o = {});
value mean_pool_gradient(const value& dy, std::span<const std::int64_t> of_x, per_axis window,
                         const pooling_options& o = {}, bool counts_padding = true);

}  // namespace troupe::dnn
