// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/enumeration.hpp>
#include <troupe/dnn/graph/value.hpp>
#include <troupe/dnn/requests/computation.hpp>

namespace troupe::dnn {

/// Activation functions, which have the names of the functions in pointwise.hpp. `none` does not change elements.
enum class activation_kind : std::uint8_t {
  none,
  relu,
  leaky_relu,
  elu,
  gelu,
  gelu_tanh,
  silu,
  tanh,
  sigmoid,
  softplus,
  hard_swish,
};
TROUPE_ENUM(activation_kind, none, relu, leaky_relu, elu, gelu, gelu_tanh, silu, tanh, sigmoid, softplus, hard_swish)

/// An activation function and its slope. A type for fields of ready requests.
///   .activation = dnn::activation_kind::relu, or {dnn::activation_kind::leaky_relu, 0.01}
struct activation {
  activation_kind kind;
  double slope;  ///< leaky_relu: slope for negative x. elu: the limit for x -> -inf is -slope. 0 for all other
                 ///< functions

  constexpr activation(activation_kind k = activation_kind::none, double of_slope = 0) noexcept
      : kind(k), slope(of_slope) {}
  friend bool operator==(const activation&, const activation&) = default;
};

value activate(const value& x, const activation& a);
/// Return the gradient of x, computed from dy, the gradient of y = activate(x), and from x or y. The second requires
/// `can_use_output(a)`.
value activation_gradient_of_input(const value& dy, const value& x, const activation& a);
value activation_gradient_of_output(const value& dy, const value& y, const activation& a);
/// Returns true if the derivative can be computed from y. This holds for none, relu, tanh, sigmoid and softplus, and
/// for leaky_relu and elu with a positive slope.
bool can_use_output(const activation& a) noexcept;

/// y = activation(x).
struct activation_forward {
  in_any x;
  out_any y;
  dnn::activation activation;
  computation_options options = {};
  TROUPE_REQUEST("dnn.activation_forward", x, y, activation, options)
  computation to_request() const;
};
/// dx = the gradient of x, computed from dy, the gradient of y, and from x or y. y suffices for relu, tanh, sigmoid and
/// softplus, and for leaky_relu and elu with a positive slope.
struct activation_backward {
  in_any dy;
  out_any dx;
  dnn::activation activation;
  std::optional<in_any> x = {}, y = {};  ///< exactly one of both
  computation_options options = {};
  TROUPE_REQUEST("dnn.activation_backward", dy, dx, activation, x, y, options)
  computation to_request() const;
};

}  // namespace troupe::dnn
