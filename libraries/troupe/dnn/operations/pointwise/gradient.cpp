// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/operations/operations.hpp>
#include <troupe/dnn/operations/pointwise/attributes.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>

namespace troupe::dnn::detail {

void differentiate_conversion(node_differentiation& d) {
  if (const dtype to = d.out(0).type(); to >= dtype::i8) return d.refuse(cat("a conversion to ", to_string(to)));
  d.set(0, [&] { return d.gradient(); });
}

void differentiate_pointwise(node_differentiation& d) {
  const value& gradient = d.gradient();
  const epilogue::op function = d.attributes<pointwise_attributes>().function;
  for (std::size_t i = 0; i < d.node().inputs.size(); ++i) {
    if (!d.is_needed(i)) continue;
    optional_gradient through;
    if (function == epilogue::op::select) {
      // The operand that is not selected has no effect, even if its gradient is infinite.
      if (i == 1) through = select(d.in(0), gradient, 0);
      if (i == 2) through = select(d.in(0), 0, gradient);
    } else if (const auto factor = derivative(function, d.node().inputs, d.out(0), i)) {
      through = times(gradient, *factor);
    }
    if (through) d.set(i, [&] { return summed(*through, d.out(0).extents(), d.in(i).extents()); });
  }
}

}  // namespace troupe::dnn::detail
