// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/indexing/attributes.hpp>
#include <troupe/dnn/operations/indexing/indexing.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>
#include <vector>

namespace troupe::dnn {

using detail::node_maker;

namespace {

value index_of_extreme(const char* name, const value& x, std::size_t axis, reduction_kind extreme) {
  node_maker m(op::reduction, name, {x});
  if (!m.has_rank("x", x, 1, tensor_shape::max_rank)) return m.done();
  if (axis >= x.rank())
    m.refuse("axis", cat("is ", axis), cat("less than ", x.rank()));
  else if (x.extents()[axis] < 1 || x.extents()[axis] > most_iota)
    m.refuse("x", cat("has ", x.extents()[axis], " elements along the axis"), cat("1 to ", most_iota));
  if (!m.fine()) return m.done();
  const std::size_t over[] = {axis};
  // NaN equals nothing, and the largest and the smallest of it and numbers is NaN.
  const value is_found = logical_or(equal(x, reduce(x, extreme, over)), not_equal(x, x));
  const auto none = static_cast<double>(x.extents()[axis]);
  return reduce(select(is_found, iota(x.extents(), axis), none), reduction_kind::minimum, over);
}

}  // namespace

value iota(std::span<const std::int64_t> extents, std::size_t axis) {
  node_maker m(op::iota, "iota", {});
  if (extents.empty() || extents.size() > tensor_shape::max_rank)
    m.refuse("result", cat("has ", detail::axes_text(extents.size())), "1 to 8");
  else if (axis >= extents.size())
    m.refuse("axis", cat("is ", axis), cat("less than ", extents.size()));
  else if (extents[axis] > most_iota)
    m.refuse("result", cat("has ", extents[axis], " elements along the axis"), cat("at most ", most_iota));
  m.with(iota_attributes{static_cast<std::int64_t>(axis)});
  m.add_output(dtype::f32, extents);
  return m.done();
}

value one_hot(const value& labels, std::int64_t classes) {
  node_maker m(op::reshape, "one_hot", {labels});
  m.has_rank("labels", labels, 0, tensor_shape::max_rank - 1);
  if (classes < 1 || classes > most_iota) m.refuse("classes", cat("is ", classes), cat("1 to ", most_iota));
  if (!m.fine()) return m.done();
  std::vector<std::int64_t> of_labels(labels.extents().begin(), labels.extents().end());
  of_labels.push_back(1);
  std::vector<std::int64_t> of_classes = of_labels;
  of_classes.back() = classes;
  return equal(reshape(labels, of_labels), iota(of_classes, of_classes.size() - 1));
}

value arg_max(const value& x, std::size_t axis) {
  return index_of_extreme("arg_max", x, axis, reduction_kind::maximum);
}
value arg_min(const value& x, std::size_t axis) {
  return index_of_extreme("arg_min", x, axis, reduction_kind::minimum);
}

}  // namespace troupe::dnn
