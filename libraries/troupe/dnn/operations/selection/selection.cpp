// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/indexing/attributes.hpp>
#include <troupe/dnn/operations/indexing/indexing.hpp>
#include <troupe/dnn/operations/operation_table.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>
#include <troupe/dnn/operations/selection/attributes.hpp>
#include <troupe/dnn/operations/selection/selection.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>
#include <vector>

namespace troupe::dnn {

selected top_k(const value& x, std::size_t axis, std::int64_t count, const top_k_options& o) {
  detail::node_maker m(op::top_k, "top_k", {x});
  if (m.has_rank("x", x, 1, tensor_shape::max_rank) && axis >= x.rank())
    m.refuse("axis", cat("is ", axis), cat("less than ", x.rank()));
  if (m.fine() && x.extents()[axis] > most_iota)
    m.refuse("x", cat("has ", x.extents()[axis], " elements along the axis"), cat("at most ", most_iota));
  if (m.fine() && (count < 0 || count > x.extents()[axis]))
    m.refuse("count", cat("is ", count), cat("0 to ", x.extents()[axis], ", the elements along the axis"));
  m.with(selection_attributes{static_cast<std::int64_t>(axis), o.smallest});
  std::vector<std::int64_t> to(x.extents().begin(), x.extents().end());
  if (m.fine()) to[axis] = count;
  m.add_output(detail::floating_type({x}), to);
  m.add_output(dtype::i32, to);
  const std::vector<value> all = m.all(2);
  return {all[0], all[1]};
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

// An element has the gradient of the selected one with its index, if there is one.
void differentiate_top_k(node_differentiation& d) {
  if (!d.only_first_has_gradient()) return;
  const auto axis = static_cast<std::size_t>(d.attributes<selection_attributes>().axis);
  d.set(0, [&] {
    const auto x = d.in(0).extents();
    const lines_along lines(x, axis);
    const std::vector<std::int64_t> selected{lines.outer, 1, d.out(0).extents()[axis], lines.inner};
    const value at = reshape(d.out(1), selected), dy = reshape(d.dy(), selected);
    const value of_each = select(equal(at, iota({1, lines.extent, 1, 1}, 1)), dy, 0);
    return reshape(reduce(of_each, reduction_kind::sum, {2}), x);
  });
}

}  // namespace troupe::dnn::detail
