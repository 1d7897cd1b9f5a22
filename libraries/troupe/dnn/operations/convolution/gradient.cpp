// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/operations/convolution/attributes.hpp>
#include <troupe/dnn/operations/operations.hpp>

namespace troupe::dnn::detail {

// y, dx and dw are each linear in both factors, so that their derivatives are convolutions too.
void differentiate_convolution(node_differentiation& d) {
  const value& a = d.in(0);
  const value& b = d.in(1);
  switch (d.node().what) {
    case op::convolution:
      d.set(0, [&] { return d.made(op::convolution_data_gradient, {as_factor(d.dy(), b), b}, a); });
      return d.set(1, [&] { return d.made(op::convolution_weight_gradient, {as_factor(d.dy(), a), a}, b); });
    case op::convolution_data_gradient:
      d.set(0, [&] { return d.made(op::convolution, {as_factor(d.dy(), b), b}, a); });
      return d.set(1, [&] { return d.made(op::convolution_weight_gradient, {a, as_factor(d.dy(), a)}, b); });
    default:
      d.set(0, [&] { return d.made(op::convolution, {b, as_factor(d.dy(), b)}, a); });
      return d.set(1, [&] { return d.made(op::convolution_data_gradient, {a, as_factor(d.dy(), a)}, b); });
  }
}

}  // namespace troupe::dnn::detail
