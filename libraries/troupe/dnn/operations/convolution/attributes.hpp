// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/op.hpp>
#include <troupe/windows/geometry.hpp>
#include <troupe/windows/roles.hpp>

namespace troupe::dnn {

using windows::computed_tensor, windows::convolution_roles;

/// The attributes of a convolution and its gradients. The extents of the window are those of the filters.
struct convolution_attributes {
  windows::slides slides{};
  std::int64_t groups;
};

/// Returns what a node of this operation computes. Precondition: it is a convolution or a gradient of one.
constexpr computed_tensor computed_by(op what) noexcept {
  return what == op::convolution                 ? computed_tensor::y
         : what == op::convolution_data_gradient ? computed_tensor::dx
                                                 : computed_tensor::dfilters;
}

}  // namespace troupe::dnn
