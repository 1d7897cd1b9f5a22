// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <troupe/dnn/producer.hpp>
#include <vector>

/// How gradients pass a node, from what it gives to what it is given.
namespace troupe::dnn::detail {

/// The gradient of a tensor. It may be a number, or have the extent 1 where it is the same along an index. None: 0.
using slope = std::optional<value>;

/// Returns the sum and the product; without a node where that is known.
value sum_of(const value& a, const value& b);
value times(const value& a, const value& b);
/// Returns the gradient of a tensor with all of its extents.
value spread_over(const value& gradient, const value& tensor);
/// Returns a value that is refused, because the way back leads through it.
value no_gradient(std::string_view through);

/// Returns the derivative of a function of elements, y, with respect to an argument; not of `select`.
slope derivative(epilogue::op function, std::span<const value> arguments, const value& y, std::size_t of);

/// What a node of the way back is given.
struct passage {
  value of;                      ///< the node's first output
  std::vector<slope> slopes;     ///< of its outputs
  std::vector<bool> wanted;      ///< which inputs have a variable behind them
  std::optional<value> rounded;  ///< the first output, as the loss sees it, if it is rounded to a narrower type
};
/// Returns the slopes of the inputs that are wanted.
std::vector<slope> slopes_of_inputs(const passage& p);

}  // namespace troupe::dnn::detail
