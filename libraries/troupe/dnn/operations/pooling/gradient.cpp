// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/operations/operations.hpp>
#include <troupe/dnn/operations/pooling/attributes.hpp>

namespace troupe::dnn::detail {

void differentiate_pooling(node_differentiation& d) {
  const bool reads_x = d.attributes<pooling_attributes>().kind == pooling_kind::maximum;
  d.set(0, [&] {
    return d.made(op::pooling_gradient, reads_x ? std::vector{d.dy(), d.in(0)} : std::vector{d.dy()}, d.in(0));
  });
}

void differentiate_pooling_with_indexes(node_differentiation& d) {
  d.set(0, [&] { return d.made(op::pooling_index_gradient, {d.dy(), d.out(1)}, d.in(0)); });
}

}  // namespace troupe::dnn::detail
