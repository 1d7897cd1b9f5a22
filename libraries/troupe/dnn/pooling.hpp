// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/windows.hpp>

namespace troupe::dnn {

/// How a window moves over the image.
struct pooling_options {
  per_axis padding = 0;         ///< beside the image, before it
  per_axis padding_after = {};  ///< after it; not given: as before it
  per_axis stride = {};         ///< not given: as the window, so that windows do not overlap
  per_axis dilation = 1;
};

/// The largest element in each window, which must not lie beside the image entirely.
value max_pool(const value& x, per_axis window, const pooling_options& o = {});
/// The mean of each window. The padding counts as zeros, or not at all.
value mean_pool(const value& x, per_axis window, const pooling_options& o = {}, bool counts_padding = true);
/// max_pool, and where its elements lie: i32 positions in row-major order of the image's spatial indexes.
struct pooled {
  value y, indexes;
};
pooled max_pool_with_indexes(const value& x, per_axis window, const pooling_options& o = {});

/// The gradients of x from that of y. That of a maximum is its first element's in row-major order.
value max_pool_gradient(const value& dy, const value& x, per_axis window, const pooling_options& o = {});
/// The same from the positions, without x. `of_x` are its extents. One that its window does not see is ignored.
value max_pool_index_gradient(const value& dy, const value& indexes, std::span<const std::int64_t> of_x,
                              per_axis window, const pooling_options& o = {});
value mean_pool_gradient(const value& dy, std::span<const std::int64_t> of_x, per_axis window,
                         const pooling_options& o = {}, bool counts_padding = true);

}  // namespace troupe::dnn
