// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/graph/value.hpp>
#include <troupe/dnn/requests/computation.hpp>
#include <troupe/epilogue/op.hpp>

/// Functions of elements, which are the operations of epilogues (docs/epilogues.md). Along each axis, the extents of
/// the operands must be equal, or 1: that element is combined with all others. Numbers can be combined with any tensor.
namespace troupe::dnn {

/// Applies any function of epilogue::op, see epilogue::is_function.
value pointwise(epilogue::op function, const value& x);
value pointwise(epilogue::op function, const value& x, const value& y);
value pointwise(epilogue::op function, const value& x, const value& y, const value& z);

inline value operator-(const value& x) { return pointwise(epilogue::op::negate, x); }
inline value operator+(const value& x, const value& y) { return pointwise(epilogue::op::add, x, y); }
inline value operator-(const value& x, const value& y) { return pointwise(epilogue::op::subtract, x, y); }
inline value operator*(const value& x, const value& y) { return pointwise(epilogue::op::multiply, x, y); }
inline value operator/(const value& x, const value& y) { return pointwise(epilogue::op::divide, x, y); }
inline value min(const value& x, const value& y) { return pointwise(epilogue::op::minimum, x, y); }
inline value max(const value& x, const value& y) { return pointwise(epilogue::op::maximum, x, y); }
/// Returns 1 where the comparison holds, otherwise 0.
inline value equal(const value& x, const value& y) { return pointwise(epilogue::op::equal, x, y); }
inline value less(const value& x, const value& y) { return pointwise(epilogue::op::less, x, y); }
inline value less_equal(const value& x, const value& y) { return pointwise(epilogue::op::less_equal, x, y); }
inline value not_equal(const value& x, const value& y) { return 1 - equal(x, y); }
inline value greater(const value& x, const value& y) { return less(y, x); }
inline value greater_equal(const value& x, const value& y) { return less_equal(y, x); }
/// Return 1 if both operands are true (and), at least one is true (or), or the operand is not true (not), otherwise 0.
/// 0 is false; all other numbers and NaN are true.
inline value logical_and(const value& x, const value& y) { return pointwise(epilogue::op::logical_and, x, y); }
inline value logical_or(const value& x, const value& y) { return pointwise(epilogue::op::logical_or, x, y); }
inline value logical_not(const value& x) { return equal(x, 0); }
/// Returns x where the condition is not 0, otherwise y.
inline value select(const value& condition, const value& x, const value& y) {
  return pointwise(epilogue::op::select, condition, x, y);
}

inline value abs(const value& x) { return pointwise(epilogue::op::absolute, x); }
inline value sign(const value& x) { return pointwise(epilogue::op::sign, x); }
inline value exp(const value& x) { return pointwise(epilogue::op::exponential, x); }
inline value log(const value& x) { return pointwise(epilogue::op::logarithm, x); }
inline value sqrt(const value& x) { return pointwise(epilogue::op::square_root, x); }
inline value sin(const value& x) { return pointwise(epilogue::op::sine, x); }
inline value cos(const value& x) { return pointwise(epilogue::op::cosine, x); }
inline value tan(const value& x) { return pointwise(epilogue::op::tangent, x); }
inline value atan2(const value& y, const value& x) { return pointwise(epilogue::op::arctangent, y, x); }
inline value erf(const value& x) { return pointwise(epilogue::op::error_function, x); }
inline value pow(const value& x, const value& exponent) { return pointwise(epilogue::op::power, x, exponent); }
inline value fmod(const value& x, const value& y) { return pointwise(epilogue::op::modulo, x, y); }
inline value floor(const value& x) { return pointwise(epilogue::op::floor, x); }
inline value ceil(const value& x) { return pointwise(epilogue::op::ceiling, x); }
/// Rounds to the nearest integer, ties to even.
inline value nearest(const value& x) { return pointwise(epilogue::op::nearest_whole, x); }
inline value relu(const value& x) { return pointwise(epilogue::op::relu, x); }
inline value leaky_relu(const value& x, const value& slope) { return pointwise(epilogue::op::leaky_relu, x, slope); }
inline value elu(const value& x, const value& alpha) { return pointwise(epilogue::op::elu, x, alpha); }
inline value gelu(const value& x) { return pointwise(epilogue::op::gelu, x); }
inline value gelu_tanh(const value& x) { return pointwise(epilogue::op::gelu_tanh, x); }
inline value silu(const value& x) { return pointwise(epilogue::op::silu, x); }
inline value tanh(const value& x) { return pointwise(epilogue::op::tanh, x); }
inline value sigmoid(const value& x) { return pointwise(epilogue::op::sigmoid, x); }
inline value softplus(const value& x) { return pointwise(epilogue::op::softplus, x); }
inline value hard_swish(const value& x) { return pointwise(epilogue::op::hard_swish, x); }
inline value clamp(const value& x, const value& low, const value& high) { return min(max(x, low), high); }

// The derivatives of these functions with respect to x.
inline value d_relu(const value& x) { return pointwise(epilogue::op::d_relu, x); }
inline value d_leaky_relu(const value& x, const value& slope) {
  return pointwise(epilogue::op::d_leaky_relu, x, slope);
}
inline value d_elu(const value& x, const value& alpha) { return pointwise(epilogue::op::d_elu, x, alpha); }
inline value d_gelu(const value& x) { return pointwise(epilogue::op::d_gelu, x); }
inline value d_gelu_tanh(const value& x) { return pointwise(epilogue::op::d_gelu_tanh, x); }
inline value d_silu(const value& x) { return pointwise(epilogue::op::d_silu, x); }
inline value d_tanh(const value& x) { return pointwise(epilogue::op::d_tanh, x); }
inline value d_sigmoid(const value& x) { return pointwise(epilogue::op::d_sigmoid, x); }
inline value d_softplus(const value& x) { return pointwise(epilogue::op::d_softplus, x); }
inline value d_hard_swish(const value& x) { return pointwise(epilogue::op::d_hard_swish, x); }

/// Rounds x to a type, and clamps it to the type's range. Later operations use the rounded value.
value convert(const value& x, dtype to);
template <class T>
value convert(const value& x) {
  return convert(x, dtype_of<T>);
}

/// y = alpha * x + beta * the old y, rounded to the type of y. The strides of x and y may differ.
struct transform {
  in_any x;
  out_any y;
  double alpha = 1, beta = 0;
  computation_options options = {};
  TROUPE_REQUEST("dnn.transform", x, y, alpha, beta, options)
  computation to_request() const;
};

}  // namespace troupe::dnn
