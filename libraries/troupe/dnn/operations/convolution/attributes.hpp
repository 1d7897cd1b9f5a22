// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/dnn/graph/op.hpp>
#include <troupe/dnn/operations/windows/sliding.hpp>

namespace troupe::dnn {

/// The attributes of a convolution and its gradients.
struct convolution_attributes {
  sliding window;
  std::int64_t groups;
};

/// The tensors of a convolution or one of its gradients by their roles: the convolution of `image` with `filters` is
/// `result`, or their gradients are computed.
template <class T>
struct convolution_roles {
  T image, filters, result;

  /// Returns the roles of a node's inputs and output.
  static constexpr convolution_roles of(op what, T first, T second, T output) noexcept {
    if (what == op::convolution) return {first, second, output};
    if (what == op::convolution_data_gradient) return {output, second, first};
    return {second, output, first};
  }
};

}  // namespace troupe::dnn
