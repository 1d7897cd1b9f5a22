// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/accepted.hpp>
#include <troupe/epilogue/expression.hpp>
#include <troupe/matmul/options.hpp>
#include <troupe/request/for_device.hpp>
#include <troupe/request/operands/any_operand.hpp>
#include <troupe/request/request.hpp>

/// Requests for products of matrices of many types, followed by an epilogue.
namespace troupe::matmul {

/// D = epilogue(A * B). A is m by k, B is k by n, and D is m by n; a batch has one more axis, the first, and an A or B
/// without it is shared by all products. The rows or the columns of each matrix must be contiguous.
///
/// A and B have elements of one type, f32, f64, f16, bf16, i8, f4e2m1x2 (with scales), c64 or c128; or each has f8e4m3
/// or f8e5m2. Sums are f64 for f64, i32 for i8, of the elements' type if that is complex, and otherwise f32. D has any
/// type of real numbers, or the type of complex sums. D may be a matrix that the epilogue loads: C = A * B + C.
struct multiplication {
  in_any a, b;
  out_any d;
  epilogue::expression epilogue = epilogue::product_part{epilogue::op::accumulator};
  /// One scale for each block of a factor's elements along k: see docs/matmul.md. Set for both factors or neither.
  std::optional<in_any> a_scales = {}, b_scales = {};
  product_options options = {};
  using reply = outcome;
  static constexpr bool reply_informs = true;  ///< the reply holds no result, so a graph omits it
  TROUPE_REQUEST("matmul.multiplication", a, b, d, epilogue, a_scales, b_scales, options)
  void check(checker&) const;
};

/// Enqueues D = epilogue(A * B) for matrices, or for tensors with three axes.
///   matmul::multiply(gpu, d, a, b, relu(epilogue::acc + epilogue::row(bias)));
template <std::same_as<device> Device>
accepted multiply(const Device& gpu, const out_any& d, const in_any& a, const in_any& b,
                  const epilogue::expression& e = epilogue::product_part{epilogue::op::accumulator},
                  const product_options& o = {}, const call_options_of<Device>& how = {}) {
  return gpu.tell(multiplication{.a = a, .b = b, .d = d, .epilogue = e, .options = o}, how);
}

}  // namespace troupe::matmul
