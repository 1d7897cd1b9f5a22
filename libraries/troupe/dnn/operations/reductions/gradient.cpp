// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <troupe/dnn/gradients/node_differentiation.hpp>
#include <troupe/dnn/operations/operations.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>
#include <troupe/dnn/operations/reductions/attributes.hpp>
#include <troupe/dnn/operations/reductions/reductions.hpp>
#include <troupe/dnn/operations/shaping/shaping.hpp>

namespace troupe::dnn::detail {

void differentiate_product(node_differentiation& d) {
  const auto transposed = [](const value& v) {
    std::vector<std::size_t> order(v.rank());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::swap(order[v.rank() - 2], order[v.rank() - 1]);
    return transpose(v, order);
  };
  const auto summed_over_batch = [](const value& gradient, const value& of) {
    return summed(gradient, gradient.extents(), of.extents());
  };
  d.set(0, [&] { return summed_over_batch(product(as_factor(d.dy(), d.in(1)), transposed(d.in(1))), d.in(0)); });
  d.set(1, [&] { return summed_over_batch(product(transposed(d.in(0)), as_factor(d.dy(), d.in(0))), d.in(1)); });
}

void differentiate_reduction(node_differentiation& d) {
  const value &x = d.in(0), y = d.out(0), &gradient = d.gradient();
  const auto of_largest = [&](const value& compared) {
    std::vector<std::size_t> over;
    for (std::size_t i = 0; i < x.rank(); ++i)
      if (y.extents()[i] != x.extents()[i]) over.push_back(i);
    const value is = equal(compared, y);  // the gradient is divided among equal elements
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

// Maxima and minima of no elements are refused earlier.
known_output reduction_of_nothing(const producer& p, std::size_t) {
  const reduction_kind kind = p.attributes.as<reduction_attributes>().kind;
  constexpr double no_number = std::numeric_limits<double>::quiet_NaN();
  return {kind == reduction_kind::mean ? no_number : kind == reduction_kind::product ? 1.0 : 0.0};
}

}  // namespace troupe::dnn::detail
