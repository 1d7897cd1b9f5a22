// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <troupe/dnn/graph/kinds.hpp>
#include <troupe/dnn/graph/value.hpp>

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

}  // namespace troupe::dnn
