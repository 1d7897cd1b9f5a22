// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/prepare.hpp>
#include <troupe/request/any_operand_list.hpp>

/// Products of matrices anywhere in memory, many in one request.
namespace troupe::cutlass {

/// D[i] = epilogue(A[i] * B[i]) for each i. The products may have one shape or different ones, and be stored in
/// different ways. All of A have elements of one type, all of B and all of D too: those of `gemm`. Where the matrices
/// of a batch lie at equal distances, tensors with three indexes do the same in `gemm`.
///
/// An operand of the epilogue is the same for each product, or has a part for each: one index more. It must fit every
/// result. So a row needs results of one number of columns, a column of one number of rows, a matrix of one shape; a
/// number always fits. What the epilogue writes has a part for each product.
struct gemm_batched {
  list<in_any> a, b;
  list<out_any> d;
  epilogue::expression epilogue = product_as_it_is;
  list<in_any> a_scales = {}, b_scales = {};  ///< none, or those of each factor, as `gemm` has them
  cutlass::precision precision = cutlass::precision::exact;
  cutlass::accumulation accumulation = cutlass::accumulation::precise;
  cutlass::compiling compiling = cutlass::compiling::allowed;
  cutlass::plan plan = {};
  std::uint64_t workspace = any_amount;  ///< the most bytes of memory beside the operands
  using reply = void;
  TROUPE_REQUEST("cutlass.gemm_batched", a, b, d, epilogue, a_scales, b_scales, precision, accumulation, compiling,
                 plan, workspace)
  void check(checker&) const;
};

/// Compiles and loads the kernels of such products, as `prepare` does. Answers for the first of them.
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
  /// Returns the products. Only in a worker.
  gemm_batched product() const;
  void check(checker&) const;
};

}  // namespace troupe::cutlass
