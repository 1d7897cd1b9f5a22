// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/epilogue/tree.hpp>
#include <troupe/matmul/cuda/problem.hpp>

namespace troupe::matmul {

/// The index of an operand of an epilogue; `none` if there is none.
using operand_index = std::int8_t;
inline constexpr operand_index none = -1;

/// An epilogue that cuBLASLt computes, with D stored column by column:
///   x = alpha * (scales) * A * B + beta * C + bias         aux = x
///   D = activation(x) * d_scale                            amax = largest magnitude of activation(x)
/// or
///   D = alpha * (scales) * A * B * derivative of gelu(aux) bias gradient = sum of each row of D
/// Numbers are those of one request; they are not part of its structure.
struct fused_epilogue {
  enum class activation : std::uint8_t { none, relu, gelu };
  double alpha = 1, beta = 0;
  operand_index alpha_in_memory = none, beta_in_memory = none;
  operand_index a_scale = none, b_scale = none, d_scale = none;  ///< one number for each matrix
  operand_index row_scales = none, column_scales = none;         ///< one for each row, and for each column
  operand_index c = none, bias = none, aux = none, derivative_at = none;
  operand_index bias_gradient = none, amax = none;
  enum activation activation = activation::none;
  bool has_beta() const noexcept { return c != none; }
};

/// The fused epilogue, or the operation that cuBLASLt does not compute together with a product, such as "silu".
struct fusion_match {
  bool fits = false;
  fused_epilogue epilogue = {};
  std::string obstacle = {};
};
/// Matches an epilogue with those that cuBLASLt computes.
fusion_match match(const epilogue::tree& t, const problem& p, dtype sums);

}  // namespace troupe::matmul
