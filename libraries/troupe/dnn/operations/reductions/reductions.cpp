// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/operation_table.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>
#include <troupe/dnn/requests/request_builder.hpp>

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
  m.require_known("kind", how);
  extents e{};
  for (std::size_t i = 0; m.fine() && i < x.rank(); ++i) e[i] = (bits >> i & 1) != 0 ? 1 : x.extents()[i];
  // The maximum or minimum of no elements is undefined.
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
    m.refuse("b", cat("holds ", to_string(b.type())), cat(to_string(a.type()), ", as a does; convert one of them"));
  m.add_sum_output(detail::type_of_sums(a, b), std::span<const std::int64_t>(e.data(), rank), x[rank - 1]);
  return m.done();
}

computation softmax_forward::to_request() const {
  detail::request_builder builder({{"axis", "over"}});
  const value from = builder.read("x", x);
  builder.write("y", logarithmic ? log_softmax(from, over) : softmax(from, over), y);
  return builder.done(options);
}

computation softmax_backward::to_request() const {
  detail::request_builder builder({{"axis", "over"}});
  const value d = builder.read("dy", dy), of = builder.read("y", y);
  builder.write("dx", logarithmic ? log_softmax_gradient(d, of, over) : softmax_gradient(d, of, over), dx);
  return builder.done(options);
}

computation reduction::to_request() const {
  detail::request_builder builder;
  const value from = builder.read("x", x);
  std::vector<std::size_t> over;
  for (std::size_t i = 0; i < from.rank() && i < y.shape().rank; ++i)
    if (y.shape().extents[i] == 1) over.push_back(i);
  if (y.shape().rank != from.rank())
    builder.refuse("y", cat("has ", detail::axes_text(y.shape().rank)), cat(from.rank(), ", as x has"));
  else if (over.empty())
    builder.refuse("y", "has no extent of 1", "extent 1 along each axis that is reduced");
  builder.write("y", reduce(from, kind, over), alpha, beta, y);
  return builder.done(options);
}

}  // namespace troupe::dnn

namespace troupe::dnn::detail {

namespace {

value transposed(const value& v) {
  std::vector<std::size_t> order(v.rank());
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[v.rank() - 2], order[v.rank() - 1]);
  return transpose(v, order);
}
bool is_one_matrix(const value& v) {
  return std::ranges::all_of(v.extents().first(v.rank() - 2), [](std::int64_t n) { return n == 1; });
}
// Returns the matrices of a tensor one below the other, as one matrix.
value joined(const value& v) {
  std::vector<std::int64_t> to(v.rank(), 1);
  to.back() = v.extents().back();
  for (const std::int64_t n : v.extents().first(v.rank() - 1)) to[v.rank() - 2] *= n;
  return reshape(v, to);
}

}  // namespace

void differentiate_product(node_differentiation& d) {
  const auto summed_over_batch = [](const value& gradient, const value& of) {
    return summed(gradient, gradient.extents(), of.extents());
  };
  d.set(0, [&] { return summed_over_batch(product(as_factor(d.dy(), d.in(1)), transposed(d.in(1))), d.in(0)); });
  d.set(1, [&] {
    const value &a = d.in(0), dy = as_factor(d.dy(), a);
    // One product with as many summands as all matrices have rows, instead of a sum of products.
    if (is_one_matrix(d.in(1)) && !is_one_matrix(a)) return product(transposed(joined(a)), joined(dy));
    return summed_over_batch(product(transposed(a), dy), d.in(1));
  });
}

void differentiate_reduction(node_differentiation& d) {
  const value &x = d.in(0), y = d.out(0), &gradient = d.gradient();
  const auto of_largest = [&](const value& compared) {
    std::vector<std::size_t> over;
    for (std::size_t i = 0; i < x.rank(); ++i)
      if (y.extents()[i] != x.extents()[i]) over.push_back(i);
    const value is = equal(compared, y);  // elements that equal the maximum or minimum share the gradient
    return over.empty() ? gradient : times(gradient, is / reduce(is, reduction_kind::sum, over));
  };
  double count = 1;
  for (std::size_t i = 0; i < x.rank(); ++i)
    count *= static_cast<double>(x.extents()[i]) / static_cast<double>(y.extents()[i]);
  d.set(0, [&] {
    switch (d.attributes<reduction_attributes>().kind) {
      case reduction_kind::sum:
        return gradient;
      case reduction_kind::mean:
        return times(gradient, 1 / count);
      case reduction_kind::maximum:
      case reduction_kind::minimum:
        return of_largest(x);
      case reduction_kind::absolute_maximum:
        return times(of_largest(abs(x)), sign(x));
      case reduction_kind::norm1:
        return times(gradient, sign(x));
      case reduction_kind::norm2:
        return times(gradient, select(y, x / y, 0));
      default:
        return no_gradient("a reduction to a product");
    }
  });
}

void differentiate_softmax(node_differentiation& d) {
  d.set(0, [&] { return d.made(op::softmax_gradient, {d.dy(), d.out(0)}, d.in(0)); });
}

// A maximum or minimum of no elements was refused before.
known_output reduction_of_nothing(const producer& p, std::size_t) {
  const reduction_kind kind = p.attributes.as<reduction_attributes>().kind;
  constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
  return {kind == reduction_kind::mean ? no_number : kind == reduction_kind::product ? 1.0 : 0.0};
}

}  // namespace troupe::dnn::detail
