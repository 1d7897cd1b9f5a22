// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/epilogue/tree.hpp>
#include <troupe/matmul/cuda/problem.hpp>

namespace troupe::matmul {

/// The index of an operand among those that an epilogue has in memory; `none`: no operand.
using operand_index = std::int8_t;
inline constexpr operand_index none = -1;

/// An epilogue that cuBLASLt fuses with a product whose D is stored column by column:
///   x = alpha * (scales) * A * B + beta * C + bias         aux = x
///   D = activation(x) * d_scale                            amax = largest magnitude of activation(x)
/// or
///   D = alpha * (scales) * A * B * derivative of gelu(aux) bias gradient = sum of each row of D
/// `alpha` and `beta` are numbers of one request; they are not part of the epilogue's structure.
struct fused_epilogue {
  enum class activation : std::uint8_t { none, relu, gelu };
  double alpha = 1, beta = 0;
  operand_index alpha_in_memory = none, beta_in_memory = none;
  operand_index a_scale = none, b_scale = none, d_scale = none;  ///< numbers in memory that multiply A, B and D
  operand_index row_scales = none, column_scales = none;         ///< vectors: a scale for each row, and for each column
  operand_index c = none, bias = none, aux = none, derivative_at = none;
  operand_index bias_gradient = none, amax = none;
  enum activation activation = activation::none;
  bool has_beta() const noexcept { return c != none; }
};

/// The result of `match`: the fused epilogue, or the part of the tree that cuBLASLt cannot fuse, such as "silu".
struct epilogue_fusion {
  bool fits = false;
  fused_epilogue epilogue = {};
  std::string obstacle = {};
};
/// Finds the fused epilogue that computes the tree `t`, if cuBLASLt has it.
epilogue_fusion match(const epilogue::tree& t, const problem& p, dtype sums);

}  // namespace troupe::matmul
