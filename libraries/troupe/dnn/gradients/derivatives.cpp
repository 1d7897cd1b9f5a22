// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <numbers>
#include <troupe/base/text/cat.hpp>
#include <troupe/dnn/gradients/derivatives.hpp>
#include <troupe/dnn/graph/node_maker.hpp>
#include <troupe/dnn/operations/pointwise/pointwise.hpp>

namespace troupe::dnn::detail {
namespace {

using function_op = epilogue::op;

std::optional<double> number_in(const value& v) noexcept {
  const producer& p = v.from();
  return p.what == dnn::op::none && !p.memory && !p.refused ? std::optional(p.number) : std::nullopt;
}

value inverse_of(const value& v) {
  const auto number = number_in(v);
  return number ? value(1 / *number) : 1 / v;
}

// Returns the derivative of a function with one argument.
optional_gradient derivative_of_one(epilogue::op function, const value& x, const value& y) {
  switch (function) {
    case function_op::negate:
      return -1;
    case function_op::absolute:
      return sign(x);
    case function_op::exponential:
      return y;
    case function_op::logarithm:
      return 1 / x;
    case function_op::square_root:
      return 0.5 / y;
    case function_op::sine:
      return cos(x);
    case function_op::cosine:
      return -sin(x);
    case function_op::tangent:
      return 1 + y * y;
    case function_op::error_function:
      return 2 * std::numbers::inv_sqrtpi * exp(-(x * x));
    case function_op::relu:
      return d_relu(y);  // not of x, which then need not be kept
    case function_op::gelu:
      return d_gelu(x);
    case function_op::gelu_tanh:
      return d_gelu_tanh(x);
    case function_op::silu:
      return d_silu(x);
    case function_op::tanh:
      return d_tanh(x);
    case function_op::sigmoid:
      return d_sigmoid(x);
    case function_op::softplus:
      return d_softplus(x);
    case function_op::hard_swish:
      return d_hard_swish(x);
    case function_op::sign:
    case function_op::floor:
    case function_op::ceiling:
    case function_op::nearest_whole:
    case function_op::d_relu:
      return {};
    default:
      return no_gradient(epilogue::to_string(function));
  }
}

// Returns the derivative of a function with two arguments. Where the arguments of minimum or maximum are equal, the
// first argument gets the whole gradient.
optional_gradient derivative_of_two(epilogue::op function, const value& a, const value& b, const value& y, bool of_a) {
  switch (function) {
    case function_op::add:
      return 1;
    case function_op::subtract:
      return of_a ? 1 : -1;
    case function_op::multiply:
      return of_a ? b : a;
    case function_op::divide:
      return of_a ? inverse_of(b) : -(y / b);
    case function_op::minimum:
      return of_a ? less_equal(a, b) : less(b, a);
    case function_op::maximum:
      return of_a ? less_equal(b, a) : less(a, b);
    case function_op::leaky_relu:
      return of_a ? d_leaky_relu(a, b) : min(a, 0);
    case function_op::elu:
      return of_a ? d_elu(a, b) : exp(min(a, 0)) - 1;
    case function_op::power:
      return of_a ? b * pow(a, sum_of(b, -1)) : select(equal(a, 0), 0, y * log(a));
    case function_op::modulo:
      return of_a ? 1 : (y - a) / b;
    case function_op::arctangent:
      return (of_a ? b : -a) / (a * a + b * b);
    case function_op::equal:
    case function_op::less:
    case function_op::less_equal:
    case function_op::logical_and:
    case function_op::logical_or:
      return {};
    default:
      return no_gradient(epilogue::to_string(function));
  }
}

}  // namespace

value sum_of(const value& a, const value& b) {
  const auto x = number_in(a), y = number_in(b);
  if (x && y) return *x + *y;
  return x == 0.0 ? b : y == 0.0 ? a : a + b;
}

value times(const value& a, const value& b) {
  const auto x = number_in(a), y = number_in(b);
  if (x && y) return *x * *y;
  return x == 1.0 ? b : y == 1.0 ? a : x == -1.0 ? -b : y == -1.0 ? -a : a * b;
}

value no_gradient(std::string_view through) {
  node_maker m(dnn::op::none, "gradient", std::vector<value>());
  m.refuse("path from the loss", cat("passes ", through, ", which has no derivative"),
           "only operations that have derivatives");
  return m.done();
}

optional_gradient derivative(epilogue::op function, std::span<const value> arguments, const value& y, std::size_t of) {
  if (arguments.size() == 1) return derivative_of_one(function, arguments[0], y);
  if (arguments.size() == 2) return derivative_of_two(function, arguments[0], arguments[1], y, of == 0);
  return no_gradient(epilogue::to_string(function));
}

}  // namespace troupe::dnn::detail
