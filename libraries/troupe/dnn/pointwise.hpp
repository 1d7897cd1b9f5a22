// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/value.hpp>
#include <troupe/epilogue/op.hpp>

/// What is computed for each element: the operations of epilogues, see docs/epilogues.md. Tensors must have equal
/// extents, or 1 where one element is combined with all; numbers fit everything.
namespace troupe::dnn {

/// Any of epilogue::op from negate to select.
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
/// 1 where it holds, otherwise 0.
inline value equal(const value& x, const value& y) { return pointwise(epilogue::op::equal, x, y); }
inline value less(const value& x, const value& y) { return pointwise(epilogue::op::less, x, y); }
inline value less_equal(const value& x, const value& y) { return pointwise(epilogue::op::less_equal, x, y); }
/// x where the condition is not 0, otherwise y.
inline value select(const value& condition, const value& x, const value& y) {
  return pointwise(epilogue::op::select, condition, x, y);
}

inline value abs(const value& x) { return pointwise(epilogue::op::absolute, x); }
inline value sign(const value& x) { return pointwise(epilogue::op::sign, x); }
inline value exp(const value& x) { return pointwise(epilogue::op::exponential, x); }
inline value relu(const value& x) { return pointwise(epilogue::op::relu, x); }
inline value leaky_relu(const value& x, const value& slope) { return pointwise(epilogue::op::leaky_relu, x, slope); }
inline value gelu(const value& x) { return pointwise(epilogue::op::gelu, x); }
inline value gelu_tanh(const value& x) { return pointwise(epilogue::op::gelu_tanh, x); }
inline value silu(const value& x) { return pointwise(epilogue::op::silu, x); }
inline value tanh(const value& x) { return pointwise(epilogue::op::tanh, x); }
inline value sigmoid(const value& x) { return pointwise(epilogue::op::sigmoid, x); }
inline value softplus(const value& x) { return pointwise(epilogue::op::softplus, x); }
inline value hard_swish(const value& x) { return pointwise(epilogue::op::hard_swish, x); }
inline value clamp(const value& x, const value& low, const value& high) { return min(max(x, low), high); }

// The derivatives at x.
inline value d_relu(const value& x) { return pointwise(epilogue::op::d_relu, x); }
inline value d_leaky_relu(const value& x, const value& slope) {
  return pointwise(epilogue::op::d_leaky_relu, x, slope);
}
inline value d_gelu(const value& x) { return pointwise(epilogue::op::d_gelu, x); }
inline value d_gelu_tanh(const value& x) { return pointwise(epilogue::op::d_gelu_tanh, x); }
inline value d_silu(const value& x) { return pointwise(epilogue::op::d_silu, x); }
inline value d_tanh(const value& x) { return pointwise(epilogue::op::d_tanh, x); }
inline value d_sigmoid(const value& x) { return pointwise(epilogue::op::d_sigmoid, x); }
inline value d_softplus(const value& x) { return pointwise(epilogue::op::d_softplus, x); }
inline value d_hard_swish(const value& x) { return pointwise(epilogue::op::d_hard_swish, x); }

/// Rounds to a type, and saturates: what follows sees the rounded value.
value convert(const value& x, dtype to);
template <class T>
value convert(const value& x) {
  return convert(x, dtype_of<T>);
}

}  // namespace troupe::dnn
