// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/epilogue/expression.hpp>
#include <troupe/memory/tensor.hpp>

/// Expressions for epilogues: computations on the result of a product or a convolution before it is stored.
///   relu(acc + row(bias))                       // a bias for each column
///   0.5 * acc + load(c)                         // alpha and beta
///   store(before, acc + row(bias))              // also writes the matrix `before`
///   silu(left) * right                          // a gated pair
///   convert<float8_e4m3>(acc * number(scale))   // a scale in memory, read when the request runs
/// All operations are computed in the type of the product's sums, but at least in float. The result is rounded once,
/// when it is stored.
namespace troupe::epilogue {

/// The value of the product at each element.
inline constexpr product_part acc{op::accumulator};
/// The values of the left and of the right half of the product's columns; the result has half as many columns.
inline constexpr product_part left{op::left}, right{op::right};

namespace detail {

template <class T>
expression::memory_operand matrix_of(const matrix<T>& m) {
  return {.range = m.memory().memory(), .shape = m.shape(), .type = dtype_of<T>};
}
expression::memory_operand matrix_of(const memory_range& memory, const tensor_shape& s, dtype type);
template <class T>
expression::memory_operand matrix_of(const tensor<T>& t) {
  return matrix_of(t.memory().memory(), t.shape(), dtype_of<T>);
}
/// Returns the elements of a buffer as a matrix with one row, or with one column.
template <class T>
expression::memory_operand row_of(const buffer<T>& b) {
  const auto n = static_cast<std::int64_t>(b.size());
  return {.range = b.memory(), .shape = {1, n, n, 1}, .type = dtype_of<T>};
}
template <class T>
expression::memory_operand column_of(const buffer<T>& b) {
  expression::memory_operand out = row_of(b);
  out.shape = out.shape.transposed();
  return out;
}
/// Returns a batch of matrices with one row, or one column, each: row i of `m` is for product i.
template <class T>
expression::memory_operand row_of(const matrix<T>& m) {
  const matrix_shape& s = m.shape();
  return {.range = m.memory().memory(),
          .shape = {1, s.columns, s.columns, s.column_stride},
          .type = dtype_of<T>,
          .batch = s.rows,
          .batch_stride = s.row_stride};
}
template <class T>
expression::memory_operand column_of(const matrix<T>& m) {
  expression::memory_operand out = row_of(m);
  out.shape = out.shape.transposed();
  return out;
}
template <class... E>
expression make(op what, const E&... arguments) {
  const expression* const all[] = {&arguments...};
  return expression::of(what, all);
}

}  // namespace detail

/// A number in memory, read when the request runs: the first element of a buffer. As with any operand in memory, all
/// products of a batch share it, unless it has one more axis: row i of a matrix is for product i.
template <class B>
expression number(const B& b) {
  expression::memory_operand first = detail::row_of(b);
  first.shape = {1, 1, 1, 1};  // so that it is another operand than row(b)
  return expression::reading(op::load_number, first);
}
/// A row in memory, broadcast to all rows of the result: a buffer with one element for each column.
template <class B>
expression row(const B& b) {
  return expression::reading(op::load_row, detail::row_of(b));
}
/// A column in memory, broadcast to all columns: a buffer with one element for each row.
template <class B>
expression column(const B& b) {
  return expression::reading(op::load_column, detail::column_of(b));
}
/// A matrix in memory with the shape of the result, or a tensor for a batch.
template <class M>
expression load(const M& m) {
  return expression::reading(op::load, detail::matrix_of(m));
}

/// Rounds x to the type of a matrix with the shape of the result, writes it there, and returns x unrounded.
template <class M>
expression store(const M& to, const expression& x) {
  return expression::writing(x, detail::matrix_of(to));
}

// The next functions write a reduction of x to a buffer of f32 (or of f64, if the product is f64), and return x.
/// Writes the sum of each row, of each column, or of all elements.
template <class B>
expression sum_rows(const B& to, const expression& x) {
  return expression::reducing(x, reduction::sum, reduction_scope::row, detail::column_of(to));
}
template <class B>
expression sum_columns(const B& to, const expression& x) {
  return expression::reducing(x, reduction::sum, reduction_scope::column, detail::row_of(to));
}
template <class B>
expression sum_all(const B& to, const expression& x) {
  return expression::reducing(x, reduction::sum, reduction_scope::all, detail::row_of(to));
}
/// Writes the largest value of each row, of each column, or of all elements.
template <class B>
expression max_rows(const B& to, const expression& x) {
  return expression::reducing(x, reduction::maximum, reduction_scope::row, detail::column_of(to));
}
template <class B>
expression max_columns(const B& to, const expression& x) {
  return expression::reducing(x, reduction::maximum, reduction_scope::column, detail::row_of(to));
}
template <class B>
expression max_all(const B& to, const expression& x) {
  return expression::reducing(x, reduction::maximum, reduction_scope::all, detail::row_of(to));
}
/// Writes the largest magnitude of each row, of each column, or of all elements.
template <class B>
expression absmax_rows(const B& to, const expression& x) {
  return expression::reducing(x, reduction::absolute_maximum, reduction_scope::row, detail::column_of(to));
}
template <class B>
expression absmax_columns(const B& to, const expression& x) {
  return expression::reducing(x, reduction::absolute_maximum, reduction_scope::column, detail::row_of(to));
}
template <class B>
expression absmax_all(const B& to, const expression& x) {
  return expression::reducing(x, reduction::absolute_maximum, reduction_scope::all, detail::row_of(to));
}

inline expression operator-(const expression& x) { return detail::make(op::negate, x); }
inline expression operator+(const expression& x, const expression& y) { return detail::make(op::add, x, y); }
inline expression operator-(const expression& x, const expression& y) { return detail::make(op::subtract, x, y); }
inline expression operator*(const expression& x, const expression& y) { return detail::make(op::multiply, x, y); }
inline expression operator/(const expression& x, const expression& y) { return detail::make(op::divide, x, y); }
/// Compares elements: 1 where the comparison is true, 0 elsewhere.
inline expression operator==(const expression& x, const expression& y) { return detail::make(op::equal, x, y); }
inline expression operator!=(const expression& x, const expression& y) { return 1 - (x == y); }
inline expression operator<(const expression& x, const expression& y) { return detail::make(op::less, x, y); }
inline expression operator<=(const expression& x, const expression& y) { return detail::make(op::less_equal, x, y); }
inline expression operator>(const expression& x, const expression& y) { return y < x; }
inline expression operator>=(const expression& x, const expression& y) { return y <= x; }
inline expression min(const expression& x, const expression& y) { return detail::make(op::minimum, x, y); }
inline expression max(const expression& x, const expression& y) { return detail::make(op::maximum, x, y); }
inline expression clamp(const expression& x, const expression& low, const expression& high) {
  return min(max(x, low), high);
}
/// `x` where `condition` is not 0, and `y` elsewhere.
inline expression select(const expression& condition, const expression& x, const expression& y) {
  return detail::make(op::select, condition, x, y);
}
/// Combines truth values: only 0 is false, and NaN is true. The result is 1 or 0.
inline expression logical_and(const expression& x, const expression& y) { return detail::make(op::logical_and, x, y); }
inline expression logical_or(const expression& x, const expression& y) { return detail::make(op::logical_or, x, y); }
inline expression logical_not(const expression& x) { return x == 0; }

inline expression abs(const expression& x) { return detail::make(op::absolute, x); }
inline expression sign(const expression& x) { return detail::make(op::sign, x); }
inline expression exp(const expression& x) { return detail::make(op::exponential, x); }
inline expression log(const expression& x) { return detail::make(op::logarithm, x); }
inline expression sqrt(const expression& x) { return detail::make(op::square_root, x); }
inline expression sin(const expression& x) { return detail::make(op::sine, x); }
inline expression cos(const expression& x) { return detail::make(op::cosine, x); }
inline expression tan(const expression& x) { return detail::make(op::tangent, x); }
/// The angle of the point (x, y), from -pi to pi.
inline expression atan2(const expression& y, const expression& x) { return detail::make(op::arctangent, y, x); }
inline expression erf(const expression& x) { return detail::make(op::error_function, x); }
inline expression pow(const expression& x, const expression& exponent) { return detail::make(op::power, x, exponent); }
/// The remainder of x / y, with the quotient rounded toward zero. It has the sign of x.
inline expression fmod(const expression& x, const expression& y) { return detail::make(op::modulo, x, y); }
inline expression floor(const expression& x) { return detail::make(op::floor, x); }
inline expression ceil(const expression& x) { return detail::make(op::ceiling, x); }
/// Rounds to the nearest integer, ties to even.
inline expression nearest(const expression& x) { return detail::make(op::nearest_whole, x); }
inline expression relu(const expression& x) { return detail::make(op::relu, x); }
/// `x` where it is positive, and `slope * x` elsewhere.
inline expression leaky_relu(const expression& x, const expression& slope) {
  return detail::make(op::leaky_relu, x, slope);
}
/// `x` where it is positive, and `alpha * (exp(x) - 1)` elsewhere.
inline expression elu(const expression& x, const expression& alpha) { return detail::make(op::elu, x, alpha); }
/// x times the cumulative normal distribution at x. `gelu_tanh` approximates it by tanh.
inline expression gelu(const expression& x) { return detail::make(op::gelu, x); }
inline expression gelu_tanh(const expression& x) { return detail::make(op::gelu_tanh, x); }
/// x * sigmoid(x), also called swish.
inline expression silu(const expression& x) { return detail::make(op::silu, x); }
inline expression tanh(const expression& x) { return detail::make(op::tanh, x); }
inline expression sigmoid(const expression& x) { return detail::make(op::sigmoid, x); }
/// log(1 + exp(x))
inline expression softplus(const expression& x) { return detail::make(op::softplus, x); }
/// x * clamp(x + 3, 0, 6) / 6
inline expression hard_swish(const expression& x) { return detail::make(op::hard_swish, x); }

// Derivatives of activations at their argument x. The gradient through `gelu(x)` is `acc * d_gelu(load(x))`.
inline expression d_relu(const expression& x) { return detail::make(op::d_relu, x); }
inline expression d_leaky_relu(const expression& x, const expression& slope) {
  return detail::make(op::d_leaky_relu, x, slope);
}
inline expression d_elu(const expression& x, const expression& alpha) { return detail::make(op::d_elu, x, alpha); }
inline expression d_gelu(const expression& x) { return detail::make(op::d_gelu, x); }
inline expression d_gelu_tanh(const expression& x) { return detail::make(op::d_gelu_tanh, x); }
inline expression d_silu(const expression& x) { return detail::make(op::d_silu, x); }
inline expression d_tanh(const expression& x) { return detail::make(op::d_tanh, x); }
inline expression d_sigmoid(const expression& x) { return detail::make(op::d_sigmoid, x); }
inline expression d_softplus(const expression& x) { return detail::make(op::d_softplus, x); }
inline expression d_hard_swish(const expression& x) { return detail::make(op::d_hard_swish, x); }

/// Rounds to T: to the nearest value, ties to even. A value beyond the range of T becomes the largest of its sign if T
/// is an integer or has fewer than 16 bits, and infinite otherwise. NaN becomes 0 if T is an integer.
template <element T>
expression convert(const expression& x) {
  return expression::converted(x, dtype_of<T>);
}
/// x * scale, rounded to T. The scale is a number, a row or a column.
template <element T>
expression quantize(const expression& x, const expression& scale) {
  return convert<T>(x * scale);
}

}  // namespace troupe::epilogue
