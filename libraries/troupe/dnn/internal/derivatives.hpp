// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <troupe/dnn/producer.hpp>
#include <vector>

/// The differentiation of a node: from the gradients of its outputs to those of its inputs.
namespace troupe::dnn::detail {

/// The gradient of a tensor. It may be a number, or have the extent 1 along axes where it is constant. nullopt: 0.
using optional_gradient = std::optional<value>;

/// Return the sum and the product, without a node if the result is known.
value sum_of(const value& a, const value& b);
value times(const value& a, const value& b);
/// Returns the gradient of a tensor with all of its extents.
value spread_over(const value& gradient, const value& tensor);
/// Returns a refused value: the path from the loss to a variable passes an operation without a derivative.
value no_gradient(std::string_view through);

/// Returns the derivative of a function of elements, y, with respect to an argument; not of `select`.
optional_gradient derivative(epilogue::op function, std::span<const value> arguments, const value& y, std::size_t of);

/// A node of the backward pass.
struct backward_node {
  value of;                                  ///< the node's first output
  std::vector<optional_gradient> gradients;  ///< of its outputs
  std::vector<bool> is_needed;               ///< of each input: true if it depends on a variable
  std::optional<value> rounded;              ///< the first output rounded to a narrower type, if the loss reads it so
};
/// Returns the gradients of the inputs that are needed.
std::vector<optional_gradient> gradients_of_inputs(const backward_node& p);

}  // namespace troupe::dnn::detail
