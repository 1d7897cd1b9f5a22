// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <troupe/dnn/graph/producer.hpp>
#include <troupe/epilogue/op.hpp>
#include <vector>

/// The differentiation of a node: computes the gradients of its inputs from the gradients of its outputs.
namespace troupe::dnn::detail {

/// The gradient of a tensor; nullopt if it is 0. It may be a number, or have the extent 1 along axes along which it is
/// constant.
using optional_gradient = std::optional<value>;

/// Return a + b, and a * b, without making a node if the result is known.
value sum_of(const value& a, const value& b);
value times(const value& a, const value& b);
/// Returns the gradient, broadcast to the extents of its tensor.
value spread_over(const value& gradient, const value& tensor);
/// Returns a refused value, which says that the path from the loss to a variable passes `through`: an operation without
/// a derivative.
value no_gradient(std::string_view through);

/// Returns the derivative of an elementwise function, whose result is y, with respect to argument `of`. `select` has no
/// derivative here.
optional_gradient derivative(epilogue::op function, std::span<const value> arguments, const value& y, std::size_t of);

/// A node to differentiate.
struct differentiated_node {
  value of;                                  ///< the node's first output
  std::vector<optional_gradient> gradients;  ///< gradients of the node's outputs
  std::vector<bool> is_needed;               ///< for each input: true if it depends on a variable
  std::optional<value> rounded;  ///< the first output, converted to another type, if the loss uses that conversion
};
/// Returns the gradients of the node's inputs; nullopt for inputs that do not need one.
std::vector<optional_gradient> gradients_of_inputs(const differentiated_node& p);

}  // namespace troupe::dnn::detail
