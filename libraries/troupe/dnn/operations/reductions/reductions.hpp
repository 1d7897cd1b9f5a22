// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <troupe/dnn/graph/kinds.hpp>
#include <troupe/dnn/graph/value.hpp>

namespace troupe::dnn {

/// Combines the elements along the axes `over`, whose extents become 1.
value reduce(const value& x, reduction_kind how, std::span<const std::size_t> over);
inline value reduce(const value& x, reduction_kind how, std::initializer_list<std::size_t> over) {
  return reduce(x, how, std::span(over.begin(), over.size()));
}

/// Returns exp(x) divided by its sum along axis `over`; log_softmax returns the logarithm of this quotient.
value softmax(const value& x, std::size_t over);
value log_softmax(const value& x, std::size_t over);
/// Returns the gradient of x, computed from that of y, where y is what softmax or log_softmax returned.
value softmax_gradient(const value& dy, const value& y, std::size_t over);
value log_softmax_gradient(const value& dy, const value& y, std::size_t over);

/// Returns products of matrices, which are the last two axes. Extents along the other axes are equal, or 1 where one
/// matrix is multiplied by all.
value product(const value& a, const value& b);

}  // namespace troupe::dnn
