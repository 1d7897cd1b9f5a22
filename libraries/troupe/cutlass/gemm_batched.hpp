// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/gemm.hpp>
#include <troupe/request/operands/any_operand_list.hpp>

/// Products of matrices anywhere in memory, many in one request.
namespace troupe::cutlass {

/// D[i] = epilogue(A[i] * B[i]) for each i. Shapes and layouts may differ between products. All A have one element
/// type, and so have all B and all D; the types are those of `gemm`. If the matrices of a batch have one stride between
/// them, use `gemm` with tensors of three axes.
///
/// An operand of the epilogue is shared by all products, or has an additional first axis with a part for each product.
/// It must fit every D: a row requires D with equal numbers of columns, a column D with equal numbers of rows, a matrix
/// D of one shape; a number always fits. Outputs of the epilogue have a part for each product.
struct gemm_batched {
  list<in_any> a, b;
  list<out_any> d;
  epilogue::expression epilogue = product_as_it_is;
  list<in_any> a_scales = {}, b_scales = {};  ///< empty, or the scales of each factor, as in `gemm`
  product_options options = {};
  TROUPE_REQUEST("cutlass.gemm_batched", a, b, d, epilogue, a_scales, b_scales, options)
  void check(checker&) const;
};

}  // namespace troupe::cutlass
