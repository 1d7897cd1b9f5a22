// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/accepted.hpp>
#include <troupe/blas/extensions.hpp>
#include <troupe/blas/gemm.hpp>
#include <troupe/blas/level3/level3.hpp>
#include <troupe/memory/matrix.hpp>
#include <troupe/request/for_device.hpp>
#include <troupe/request/operands/view_operand.hpp>
#include <troupe/request/ready_request.hpp>

/// The common operations on views of matrices, which have extents and strides. Each matrix may be stored by rows or by
/// columns, but its rows or its columns must be contiguous. Each request is sent as the request on plain buffers that
/// its comment names, which has more options.
///   blas::multiply(gpu, c, a, b.transposed());
namespace troupe::blas {

/// C = alpha * A * B + beta * C. See gemm.
template <class T, class C = T>
struct multiplication {
  static_assert(has_product<T, C>, "blas::multiplication has no product of these elements with this result");
  in_matrix<T> a, b;
  inout_matrix<C> c;
  scalar<compute_of<T, C>> alpha = 1, beta = 0;
  math_mode math = math_mode::exact;
  TROUPE_REQUEST("blas.multiplication", a, b, c, alpha, beta, math)
  void check(checker&) const;
  gemm<T, C> to_request() const;
  /// Returns true if the result is computed as its transpose, because its rows are contiguous and its columns are not.
  bool exchanges_operands() const noexcept { return c.shape().row_stride != 1 && c.shape().rows != 1; }
};

/// C = alpha * A + beta * B. C may be A or B, in place: the same view. See geam.
template <class T>
struct addition {
  static_assert(is_full<T>, "blas::addition has float, double, troupe::complex64 and troupe::complex128");
  in_matrix<T> a, b;
  out_matrix<T> c;
  scalar<T> alpha = 1, beta = 1;
  TROUPE_REQUEST("blas.addition", a, b, c, alpha, beta)
  void check(checker&) const;
  geam<T> to_request() const;
};

/// B = X, the solution of A * X = alpha * B, or of X * A = alpha * B on the right, where A is triangular. See trsm.
template <class T>
struct triangular_solution {
  static_assert(is_full<T>, "blas::triangular_solution has float, double, troupe::complex64 and troupe::complex128");
  in_matrix<T> a;
  inout_matrix<T> b;
  blas::side side = blas::side::left;
  triangle uplo = triangle::lower;  ///< the triangle of A in the view, however A is stored
  diagonal diag = diagonal::stored;
  scalar<T> alpha = 1;
  TROUPE_REQUEST("blas.triangular_solution", a, b, side, uplo, diag, alpha)
  void check(checker&) const;
  trsm<T> to_request() const;
};

using all_views = joined_requests<requests_for<product_types, multiplication>, requests_for<full_types, addition>,
                                  requests_for<full_types, triangular_solution>>;

template <class S>
struct multiply_options {
  scalar<S> alpha = 1, beta = 0;
  math_mode math = math_mode::exact;
};
/// C = alpha * A * B + beta * C
template <std::same_as<device> Device, class C, class T>
accepted multiply(const Device& gpu, const matrix<C>& c, const matrix<T>& a, const matrix<T>& b,
                  const multiply_options<compute_of<T, C>>& o = {}, const call_options_of<Device>& how = {}) {
  return gpu.tell(multiplication<T, C>{.a = a, .b = b, .c = c, .alpha = o.alpha, .beta = o.beta, .math = o.math}, how);
}

template <class S>
struct add_options {
  scalar<S> alpha = 1, beta = 1;
};
/// C = alpha * A + beta * B
template <std::same_as<device> Device, class T>
accepted add(const Device& gpu, const matrix<T>& c, const matrix<T>& a, const matrix<T>& b,
             const add_options<std::type_identity_t<T>>& o = {}, const call_options_of<Device>& how = {}) {
  return gpu.tell(addition<T>{.a = a, .b = b, .c = c, .alpha = o.alpha, .beta = o.beta}, how);
}

template <class S>
struct solve_options {
  blas::side side = blas::side::left;
  triangle uplo = triangle::lower;
  diagonal diag = diagonal::stored;
  scalar<S> alpha = 1;
};
/// Solves A * X = alpha * B, where A is triangular. X replaces B.
template <std::same_as<device> Device, class T>
accepted solve_triangular(const Device& gpu, const matrix<T>& a, const matrix<T>& b,
                          const solve_options<std::type_identity_t<T>>& o = {},
                          const call_options_of<Device>& how = {}) {
  return gpu.tell(
      triangular_solution<T>{.a = a, .b = b, .side = o.side, .uplo = o.uplo, .diag = o.diag, .alpha = o.alpha}, how);
}

}  // namespace troupe::blas
