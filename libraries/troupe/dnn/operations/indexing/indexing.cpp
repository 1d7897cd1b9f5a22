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

// Checks a tensor and indexes along an axis. Returns the extents of gather's result.
std::vector<std::int64_t> extents_of_parts(node_maker& m, const value& x, const value& indexes, std::size_t axis) {
  if (!m.has_rank("x", x, 1, tensor_shape::max_rank) || !m.is_index_in_memory("indexes", indexes) ||
      !m.has_rank("indexes", indexes, 1, tensor_shape::max_rank))
    return {};
  if (axis >= x.rank())
    m.refuse("axis", cat("is ", axis), cat("less than ", x.rank()));
  else if (x.extents()[axis] < 1 || x.extents()[axis] > most_iota)
    m.refuse("x", cat("has ", x.extents()[axis], " elements along the axis"), cat("1 to ", most_iota));
  else if (x.rank() - 1 + indexes.rank() > tensor_shape::max_rank)
    m.refuse("result", cat("has ", detail::axes_text(x.rank() - 1 + indexes.rank())), "1 to 8");
  if (!m.fine()) return {};
  const auto e = x.extents();
  std::vector<std::int64_t> out(e.begin(), e.begin() + static_cast<std::ptrdiff_t>(axis));
  out.insert(out.end(), indexes.extents().begin(), indexes.extents().end());
  out.insert(out.end(), e.begin() + static_cast<std::ptrdiff_t>(axis) + 1, e.end());
  return out;
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

value full(std::span<const std::int64_t> extents, double number, dtype type) {
  node_maker m(op::iota, "full", {});
  if (extents.empty() || extents.size() > tensor_shape::max_rank)
    m.refuse("result", cat("has ", detail::axes_text(extents.size())), "1 to 8");
  // An iota would say so of itself.
  if (std::ranges::any_of(extents, [](std::int64_t n) { return n < 0; }))
    m.refuse("result", "is " + node_maker::text_of(extents), "extents of at least 0");
  if (type != dtype::f32 && type != dtype::f64) m.refuse("type", cat("is ", to_string(type)), "f32 or f64");
  if (!m.fine()) return m.done();
  // Any axis will do, but the longest may be longer than an iota's.
  std::vector<std::int64_t> rows(extents.begin(), extents.end());
  if (rows.size() == 1) rows.insert(rows.begin(), 1);
  const value zero = iota(rows, static_cast<std::size_t>(std::ranges::min_element(rows) - rows.begin())) * 0;
  const value all = number == 0 && type == dtype::f32 ? zero : convert(zero, type) + number;
  return rows.size() == extents.size() ? all : reshape(all, extents);
}

value one_hot(const value& labels, std::int64_t classes) {
  node_maker m(op::reshape, "one_hot", {labels});
  m.has_rank("labels", labels, 1, tensor_shape::max_rank - 1);
  if (classes < 1 || classes > most_iota) m.refuse("classes", cat("is ", classes), cat("1 to ", most_iota));
  if (!m.fine()) return m.done();
  std::vector<std::int64_t> of_labels(labels.extents().begin(), labels.extents().end());
  of_labels.push_back(1);
  std::vector<std::int64_t> of_classes = of_labels;
  of_classes.back() = classes;
  return equal(reshape(labels, of_labels), iota(of_classes, of_classes.size() - 1));
}

value gather(const value& x, const value& indexes, std::size_t axis) {
  node_maker m(op::gather, "gather", {x, indexes});
  const std::vector<std::int64_t> parts = extents_of_parts(m, x, indexes, axis);
  m.with(gather_attributes{static_cast<std::int64_t>(axis)});
  m.add_output(detail::floating_type({x}), parts);
  return m.done();
}

value scatter_add(const value& x, const value& indexes, const value& parts, std::size_t axis) {
  node_maker m(op::scatter_add, "scatter_add", {parts, indexes});
  const std::vector<std::int64_t> expected = extents_of_parts(m, x, indexes, axis);
  if (m.fine() && !std::ranges::equal(parts.extents(), expected))
    m.refuse_extents("parts", parts, cat(node_maker::text_of(expected), ", as gather returns"));
  m.with(gather_attributes{static_cast<std::int64_t>(axis)});
  m.add_output(detail::floating_type({x, parts}), x.extents());
  return x + m.done();
}

value arg_max(const value& x, std::size_t axis) {
  return index_of_extreme("arg_max", x, axis, reduction_kind::maximum);
}
value arg_min(const value& x, std::size_t axis) {
  return index_of_extreme("arg_min", x, axis, reduction_kind::minimum);
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

void differentiate_gather(node_differentiation& d) {
  d.set(0, [&] { return d.made(op::scatter_add, {d.dy(), d.in(1)}, d.in(0)); });
}
void differentiate_scatter_add(node_differentiation& d) {
  d.set(0, [&] { return d.made(op::gather, {d.dy(), d.in(1)}, d.in(0)); });
}

}  // namespace troupe::dnn::detail
