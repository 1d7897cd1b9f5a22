// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/async/accepted.hpp>
#include <troupe/base/containers/list.hpp>
#include <troupe/cutlass/options.hpp>
#include <troupe/epilogue/expression.hpp>
#include <troupe/request/for_device.hpp>
#include <troupe/request/operands/any_operand.hpp>
#include <troupe/request/request.hpp>

/// Products of matrices by kernels that are compiled for the problem.
namespace troupe::cutlass {

inline const epilogue::expression product_as_it_is = epilogue::product_part{epilogue::op::accumulator};

/// D = epilogue(A * B). A is m by k, B is k by n, and D is m by n. In a batch, D has an additional first axis, and so
/// have A and B, unless all products share them. Strides are arbitrary.
///
/// Types of A and B: f32, f64, f16, bf16 or i8 for both; f8e4m3 or f8e5m2 for each; or f16 or bf16 for one and i8,
/// f8e4m3, f8e5m2 or f4e2m1x2 for the other, which is widened. Sums are f64 for f64, i32 for i8 in both, and otherwise
/// f32. D has any type of real numbers.
struct gemm {
  in_any a, b;
  out_any d;
  epilogue::expression epilogue = product_as_it_is;
  /// One scale for each block of a factor. A block is a number of elements along k, in one row of A or column of B or
  /// in that number of rows or columns. The extents of the scales determine the number: see docs/cutlass.md.
  std::optional<in_any> a_scales = {}, b_scales = {};
  product_options options = {};
  TROUPE_REQUEST("cutlass.gemm", a, b, d, epilogue, a_scales, b_scales, options)
  void check(checker&) const;
};

/// Sends D = epilogue(A * B), for views of matrices or of tensors with three axes.
///   cutlass::multiply(gpu, d, a, b, gelu(epilogue::acc + epilogue::row(bias)));
template <std::same_as<device> Device>
accepted multiply(const Device& gpu, const out_any& d, const in_any& a, const in_any& b,
                  const epilogue::expression& e = product_as_it_is, const product_options& o = {},
                  const call_options_of<Device>& how = {}) {
  return gpu.tell(gemm{.a = a, .b = b, .d = d, .epilogue = e, .options = o}, how);
}

}  // namespace troupe::cutlass
