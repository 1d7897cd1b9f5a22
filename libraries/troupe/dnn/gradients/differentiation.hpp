// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <initializer_list>
#include <span>
#include <troupe/dnn/graph/value.hpp>
#include <vector>

namespace troupe::dnn {

/// Returns the gradient of a loss with respect to each of the variables. The loss has one element. A variable is a
/// value from which the loss is computed: a tensor in memory or a computed value. Gradients are ordinary values of this
/// library, with the extents of their variables.
///   const std::vector<dnn::value> d = dnn::gradients(loss, {w, b});
///   dnn::compute(gpu, {write(w - 0.1 * d[0], weights), write(b - 0.1 * d[1], bias)});
///
/// Memory that is read twice by the same view is one variable; other views that overlap it are refused. Operations
/// without a gradient are refused too: rounding to integers, blocks with scales, products of integers or 8-bit floats,
/// a reduction to a product, the statistics of a normalization or attention, and gradients themselves, except those of
/// convolutions. Piecewise constant functions have a gradient of 0: comparisons, `floor`, `sign`. `convert` to a float
/// passes the gradient on.
std::vector<value> gradients(const value& loss, std::span<const value> variables);
inline std::vector<value> gradients(const value& loss, std::initializer_list<value> variables) {
  return gradients(loss, std::span(variables.begin(), variables.size()));
}

}  // namespace troupe::dnn
