// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/operations/operations.hpp>

namespace troupe::dnn::detail {

void differentiate_ctc_loss(node_differentiation& d) {
  d.set(0, [&] { return d.made(op::ctc_loss_gradient, {d.dy(), d.in(0), d.in(1), d.in(2), d.in(3)}, d.in(0)); });
}

}  // namespace troupe::dnn::detail
