// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/bfloat16.hpp>
#include <troupe/base/half.hpp>
#include <troupe/blas/elements.hpp>
#include <troupe/blas/options.hpp>
#include <troupe/request/operands/scalar.hpp>
#include <troupe/request/request.hpp>
#include <vector>

/// C = alpha * op(A) * op(B) + beta * C, where op(A) is m by k, op(B) is k by n and C is m by n: once, or many times in
/// one request. Matrices are column-major: element (i, j) lies at i + j * leading dimension. If beta == 0, C is not
/// read: whatever it holds, NaN included, is overwritten. If alpha == 0, the contents of A and B have no effect.
///
/// A and B have elements T, C has elements C: float, double, complex64 or complex128 for all three; half or bfloat16
/// for A and B, with a C of the same type or float; int8 for A and B, with a C of int32 or float. Products are summed
/// in the type `compute_of`; each result is rounded to its type once.
namespace troupe::blas {

/// One product.   cublasGemmEx, cublasSgemm / cblas_sgemm
template <class T, class C = T>
struct gemm {
  static_assert(has_product<T, C>, "blas::gemm has no product of these elements with this result");
  in<T> a, b;
  inout<C> c;
  extent m, n, k;
  op trans_a = op::none, trans_b = op::none;
  scalar<compute_of<T, C>> alpha = 1, beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;  ///< `tight`: the number of rows of A, B or C in memory
  math_mode math = math_mode::exact;
  TROUPE_REQUEST("blas.gemm", a, b, c, m, n, k, trans_a, trans_b, alpha, beta, lda, ldb, ldc, math)
  void check(checker&) const;
};

/// `batch` products of matrices with the same extents: the matrices of product i are i strides after the first. A
/// stride of A or B may be 0: then all products use the same matrix. The results must not share elements.
/// cublasGemmStridedBatchedEx
template <class T, class C = T>
struct gemm_strided_batched {
  static_assert(has_product<T, C>, "blas::gemm_strided_batched has no product of these elements with this result");
  in<T> a, b;
  inout<C> c;
  extent m, n, k, batch;
  op trans_a = op::none, trans_b = op::none;
  scalar<compute_of<T, C>> alpha = 1, beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;
  extent stride_a = tight, stride_b = tight, stride_c = tight;  ///< `tight`: leading dimension times columns
  math_mode math = math_mode::exact;
  TROUPE_REQUEST("blas.gemm_strided_batched", a, b, c, m, n, k, batch, trans_a, trans_b, alpha, beta, lda, ldb, ldc,
                 stride_a, stride_b, stride_c, math)
  void check(checker&) const;
};

/// Products of matrices with the same extents, one for each entry of the lists, anywhere in memory.
/// cublasGemmBatchedEx
template <class T, class C = T>
struct gemm_batched {
  static_assert(has_product<T, C>, "blas::gemm_batched has no product of these elements with this result");
  list<in<T>> a, b;
  list<inout<C>> c;
  extent m, n, k;
  op trans_a = op::none, trans_b = op::none;
  scalar<compute_of<T, C>> alpha = 1, beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;
  math_mode math = math_mode::exact;
  TROUPE_REQUEST("blas.gemm_batched", a, b, c, m, n, k, trans_a, trans_b, alpha, beta, lda, ldb, ldc, math)
  void check(checker&) const;
};

/// A group of gemm_grouped: `count` products of matrices with the same extents. S is the compute type.
template <class S>
struct gemm_group {
  extent m, n, k;
  extent count = 1;
  op trans_a = op::none, trans_b = op::none;
  S alpha = 1, beta = 0;
  extent lda = tight, ldb = tight, ldc = tight;
};

/// Groups of products. The products of a group have the same extents and options. The lists hold the matrices of the
/// first group, then those of the second, and so on.   cublasGemmGroupedBatchedEx
template <class T, class C = T>
struct gemm_grouped {
  static_assert(has_product<T, C>, "blas::gemm_grouped has no product of these elements with this result");
  list<in<T>> a, b;
  list<inout<C>> c;
  list<gemm_group<compute_of<T, C>>> groups;
  math_mode math = math_mode::exact;
  TROUPE_REQUEST("blas.gemm_grouped", a, b, c, groups, math)
  void check(checker&) const;
};

/// The combinations of element types: one type for A, B and C, or types<that of A and B, that of C>.
using product_types = types<float, double, complex64, complex128, half, types<half, float>, bfloat16,
                            types<bfloat16, float>, types<std::int8_t, std::int32_t>, types<std::int8_t, float>>;

using all_products = requests_for<product_types, gemm, gemm_strided_batched, gemm_batched, gemm_grouped>;

}  // namespace troupe::blas
