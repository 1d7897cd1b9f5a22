// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <troupe/dnn/graph/kinds.hpp>
#include <troupe/dnn/graph/value.hpp>
#include <troupe/dnn/requests/computation.hpp>

namespace troupe::dnn {

/// Combines the elements along the axes `over`. The extents along these axes become 1.
value reduce(const value& x, reduction_kind how, std::span<const std::size_t> over);
inline value reduce(const value& x, reduction_kind how, std::initializer_list<std::size_t> over) {
  return reduce(x, how, std::span(over.begin(), over.size()));
}

/// Return exp(x) divided by its sum along axis `over`, and the logarithm of this quotient.
value softmax(const value& x, std::size_t over);
value log_softmax(const value& x, std::size_t over);
/// Return the gradient of x, computed from dy, the gradient of y. y must be the result of softmax or log_softmax.
value softmax_gradient(const value& dy, const value& y, std::size_t over);
value log_softmax_gradient(const value& dy, const value& y, std::size_t over);

/// Returns products of matrices, whose rows and columns are the last two axes. Along each other axis, the extents must
/// be equal, or 1: that matrix is multiplied by all others.
value product(const value& a, const value& b);

/// y = exp(x) divided by its sum along axis `over`; if `logarithmic`, y = the logarithm of this quotient.
struct softmax_forward {
  in_any x;
  out_any y;
  std::size_t over = 1;
  bool logarithmic = false;
  computation_options options = {};
  TROUPE_REQUEST("dnn.softmax_forward", x, y, over, logarithmic, options)
  computation to_request() const;
};
/// dx = the gradient of x, computed from dy, the gradient of y. y must be what the forward request wrote.
struct softmax_backward {
  in_any dy, y;
  out_any dx;
  std::size_t over = 1;
  bool logarithmic = false;
  computation_options options = {};
  TROUPE_REQUEST("dnn.softmax_backward", dy, y, dx, over, logarithmic, options)
  computation to_request() const;
};
/// y = alpha * reduce(x) + beta * the old y. x is reduced along the axes along which y has extent 1.
struct reduction {
  in_any x;
  out_any y;
  reduction_kind kind = reduction_kind::sum;
  double alpha = 1, beta = 0;
  computation_options options = {};
  TROUPE_REQUEST("dnn.reduction", x, y, kind, alpha, beta, options)
  computation to_request() const;
};

}  // namespace troupe::dnn
