// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/encoded_graph.hpp>
#include <troupe/windows/definition.hpp>

namespace troupe::dnn::detail {

using windows::tensor_index;

/// Calls `f(tensor_index)` for each element, in row-major order.
template <class F>
void for_each_index(const tensor_shape& s, F&& f) {
  windows::for_each_index(s, 0, {}, f);
}

}  // namespace troupe::dnn::detail
