// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <troupe/base/cat.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>

namespace troupe::dnn {
namespace {

using detail::node_maker;
using extents = std::array<std::int64_t, tensor_shape::max_rank>;

value softmax_of(const value& x, std::size_t over, bool logarithmic) {
  node_maker m(op::softmax, logarithmic ? "log_softmax" : "softmax", {x});
  m.has_rank("x", x, 1, tensor_shape::max_rank);
  if (m.fine() && over >= x.rank()) m.refuse("axis", cat("is ", over), cat("less than ", x.rank()));
  m.with(softmax_attributes{static_cast<std::int64_t>(over), logarithmic});
  m.add_output(detail::floating_type({x}), x.extents());
  return m.done();
}

value softmax_gradient_of(const value& dy, const value& y, std::size_t over, bool logarithmic) {
  node_maker m(op::softmax_gradient, logarithmic ? "log_softmax_gradient" : "softmax_gradient", {dy, y});
  m.has_rank("y", y, 1, tensor_shape::max_rank);
  if (m.fine() && !std::equal(dy.extents().begin(), dy.extents().end(), y.extents().begin(), y.extents().end()))
    m.refuse_extents("dy", dy, cat(node_maker::text_of(y.extents()), ", as y has"));
  if (m.fine() && over >= y.rank()) m.refuse("axis", cat("is ", over), cat("less than ", y.rank()));
  m.with(softmax_attributes{static_cast<std::int64_t>(over), logarithmic});
  m.add_output(detail::floating_type({dy, y}), y.extents());
  return m.done();
}

}  // namespace

value reduce(const value& x, reduction_kind how, std::span<const std::size_t> over) {
  node_maker m(op::reduction, "reduction", {x});
  if (!m.has_rank("x", x, 1, tensor_shape::max_rank)) return m.done();
  const std::int64_t bits = detail::bits_of(over, x.rank());
  if (bits <= 0)
    m.refuse("axes", bits == 0 ? "are none" : "have one that x does not have, or one twice", "axes of x, each once");
  if (how < reduction_kind::sum || how > reduction_kind::norm2)
    m.refuse("kind", cat("is ", static_cast<int>(how)),
             "sum, mean, maximum, minimum, product, absolute_maximum, norm1 or norm2");
  extents e{};
  for (std::size_t i = 0; m.fine() && i < x.rank(); ++i) e[i] = (bits >> i & 1) != 0 ? 1 : x.extents()[i];
  // A maximum or minimum of no elements is undefined.
  const bool is_defined_for_none = how != reduction_kind::maximum && how != reduction_kind::minimum;
  for (std::size_t i = 0; m.fine() && !is_defined_for_none && i < x.rank(); ++i)
    if (x.extents()[i] == 0 && e[i] == 1 && std::find(e.begin(), e.begin() + x.rank(), 0) == e.begin() + x.rank())
      m.refuse_extents("x", x, "elements to find the maximum or minimum of");
  m.with(reduction_attributes{bits, how});
  m.add_output(detail::floating_type({x}), std::span<const std::int64_t>(e.data(), x.rank()));
  return m.done();
}

value softmax(const value& x, std::size_t over) { return softmax_of(x, over, false); }
value log_softmax(const value& x, std::size_t over) { return softmax_of(x, over, true); }
value softmax_gradient(const value& dy, const value& y, std::size_t over) {
  return softmax_gradient_of(dy, y, over, false);
}
value log_softmax_gradient(const value& dy, const value& y, std::size_t over) {
  return softmax_gradient_of(dy, y, over, true);
}

value product(const value& a, const value& b) {
  node_maker m(op::product, "product", {a, b});
  if (!m.has_rank("a", a, 2, tensor_shape::max_rank) || !m.has_rank("b", b, a.rank(), a.rank())) return m.done();
  const std::size_t rank = a.rank();
  const auto x = a.extents(), y = b.extents();
  if (y[rank - 2] != x[rank - 1]) m.refuse_extents("b", b, cat(x[rank - 1], " rows, as many as a has columns"));
  extents e{};
  for (std::size_t i = 0; m.fine() && i + 2 < rank; ++i) {
    e[i] = x[i] == 1 ? y[i] : x[i];
    if (x[i] != y[i] && x[i] != 1 && y[i] != 1) m.refuse_extents("b", b, "as many matrices as a has, or 1");
  }
  e[rank - 2] = x[rank - 2], e[rank - 1] = y[rank - 1];
  if (m.fine() && !detail::are_factors(a.type(), b.type()))
    m.refuse("b", cat("holds ", to_string(b.type())), cat(to_string(a.type()), ", as a; convert one of them"));
  m.add_sum_output(detail::type_of_sums(a, b), std::span<const std::int64_t>(e.data(), rank), x[rank - 1]);
  return m.done();
}

}  // namespace troupe::dnn
