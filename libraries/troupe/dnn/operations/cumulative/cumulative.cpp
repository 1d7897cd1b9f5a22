// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/cumulative/attributes.hpp>
#include <troupe/dnn/operations/cumulative/cumulative.hpp>
#include <troupe/dnn/operations/operation_table.hpp>

namespace troupe::dnn {

value cumulative_sum(const value& x, std::size_t axis, const cumulative_options& o) {
  detail::node_maker m(op::cumulative_sum, "cumulative_sum", {x});
  if (m.has_rank("x", x, 1, tensor_shape::max_rank) && axis >= x.rank())
    m.refuse("axis", cat("is ", axis), cat("less than ", x.rank()));
  m.with(cumulative_attributes{static_cast<std::int64_t>(axis), o.exclusive, o.reversed});
  m.add_output(detail::floating_type({x}), x.extents());
  return m.done();
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

// An element is part of the sums at its own index and behind it: the gradient adds in the other direction.
void differentiate_cumulative_sum(node_differentiation& d) {
  auto a = d.attributes<cumulative_attributes>();
  a.reversed = 1 - a.reversed;
  d.set(0, [&] { return d.made(op::cumulative_sum, {d.dy()}, node_attributes::of(a), {&d.in(0)})[0]; });
}

}  // namespace troupe::dnn::detail
