// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/value.hpp>

namespace troupe::dnn {

/// Options of cross_entropy.
struct cross_entropy_options {
  double label_smoothing = 0;   ///< the share of the probability that is divided evenly among all classes, 0 to 1
  std::int64_t ignored = -100;  ///< the label whose loss and gradient are 0
};

/// Returns -log(softmax(x)) at the labels, which are i32 or i64. They have the extents of x, but 1 along the axis of
/// the classes, as the result has. A label that is no class, and not the ignored one, has the loss NaN and the gradient
/// 0. A GPU computes the loss and, with `gradients`, the gradient of x in one launch, and reads x once if there are at
/// most 16384 classes along the last axis.
value cross_entropy(const value& x, const value& labels, std::size_t over, const cross_entropy_options& o = {});

}  // namespace troupe::dnn
