// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/encoded_graph.hpp>
#include <utility>

namespace troupe::dnn::detail {

/// The index of an element, along each axis of its tensor.
using tensor_index = axis_values;

/// Calls `f(tensor_index)` for each element, in row-major order.
template <class F>
void for_each_index(const tensor_shape& s, F&& f) {
  tensor_index at{};
  for (std::int64_t left = elements_of(s); left > 0; --left) {
    f(std::as_const(at));
    for (std::size_t i = s.rank; i-- > 0;) {
      if (++at[i] < s.extents[i]) break;
      at[i] = 0;
    }
  }
}

}  // namespace troupe::dnn::detail
