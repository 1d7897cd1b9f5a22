// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/operations/operations.hpp>

namespace troupe::dnn::detail {

void differentiate_resampling(node_differentiation& d) {
  d.set(0, [&] { return d.made(op::resampling_gradient, {d.dy()}, d.in(0)); });
}

}  // namespace troupe::dnn::detail
