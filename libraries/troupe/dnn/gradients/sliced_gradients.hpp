// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/gradients/derivatives.hpp>
#include <vector>

namespace troupe::dnn::detail {

/// The gradients of the slices of a tensor.
class sliced_gradients {
 public:
  /// Adds the gradient of a slice; `slice` is its node.
  void add(const producer& slice, value gradient);
  bool empty() const noexcept { return all_.empty(); }
  /// Returns the gradient of the tensor, whose elements outside of all slices have the gradient 0. Slices that do not
  /// overlap, as those of q, k and v, are concatenated; gradients of others are added.
  value sum_over(const value& tensor) const;

 private:
  struct part {
    std::size_t axis;
    std::int64_t first, end;
    value gradient;
  };
  std::vector<part> all_;
};

}  // namespace troupe::dnn::detail
