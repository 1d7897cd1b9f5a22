// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/prepare.hpp>
#include <troupe/request/any_operand_list.hpp>

/// Products of matrices anywhere in memory, many in one request.
namespace troupe::cutlass {

/// D[i] = epilogue(A[i] * B[i]) for each i. The products may have one shape or different ones, and be stored in
/// different layouts. All A have elements of one type, and so have all B and all D: those of `gemm`. If the matrices
/// of a batch are equally far apart, use `gemm` with tensors of three axes.
///
/// An operand of the epilogue is the same for each product, or has a part for each along one more axis. It must fit
/// every result: a row needs results with equally many columns, a column results with equally many rows, a matrix
/// results of one shape; a number always fits. Outputs of the epilogue have a part for each product.
struct gemm_batched {
  list<in_any> a, b;
  list<out_any> d;
  epilogue::expression epilogue = product_as_it_is;
  list<in_any> a_scales = {}, b_scales = {};  ///< empty, or the scales of each factor, as in `gemm`
  cutlass::precision precision = cutlass::precision::exact;
  cutlass::accumulation accumulation = cutlass::accumulation::precise;
  cutlass::compiling compiling = cutlass::compiling::allowed;
  cutlass::plan plan = {};
  std::uint64_t workspace = any_amount;  ///< maximum bytes of memory beside the operands
  using reply = void;
  TROUPE_REQUEST("cutlass.gemm_batched", a, b, d, epilogue, a_scales, b_scales, precision, accumulation, compiling,
                 plan, workspace)
  void check(checker&) const;
};

/// Compiles and loads the kernels of such products, as `prepare` does. Returns the plan of the first product.
struct prepare_batched {
  list<in_any> a, b, d;
  epilogue::expression epilogue;
  list<in_any> a_scales = {}, b_scales = {};
  cutlass::precision precision = cutlass::precision::exact;
  cutlass::accumulation accumulation = cutlass::accumulation::precise;
  cutlass::compiling compiling = cutlass::compiling::allowed;
  cutlass::plan plan = {};
  std::uint64_t workspace = any_amount;
  std::int32_t measure = 0;
  std::optional<out<std::byte>> log = {};
  using reply = plan_info;
  TROUPE_REQUEST("cutlass.prepare_batched", a, b, d, epilogue, a_scales, b_scales, precision, accumulation, compiling,
                 plan, workspace, measure, log)
  static prepare_batched of(const gemm_batched& r, std::int32_t measure = 0);
  /// Returns the products. Call it only in a worker.
  gemm_batched product() const;
  void check(checker&) const;
};

}  // namespace troupe::cutlass
