// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/try.hpp>
#include <troupe/blas/cuda/job.hpp>
#include <troupe/blas/gemm.hpp>

/// The common part of single and batched products.
namespace troupe::blas {

template <class T>
inline constexpr cudaDataType data_type = CUDA_R_32F;
template <>
inline constexpr cudaDataType data_type<double> = CUDA_R_64F;
template <>
inline constexpr cudaDataType data_type<complex64> = CUDA_C_32F;
template <>
inline constexpr cudaDataType data_type<complex128> = CUDA_C_64F;
template <>
inline constexpr cudaDataType data_type<half> = CUDA_R_16F;
template <>
inline constexpr cudaDataType data_type<bfloat16> = CUDA_R_16BF;
template <>
inline constexpr cudaDataType data_type<std::int8_t> = CUDA_R_8I;
template <>
inline constexpr cudaDataType data_type<std::int32_t> = CUDA_R_32I;

template <class T, class C>
constexpr cublasComputeType_t compute_type(math_mode math) noexcept {
  if constexpr (std::is_same_v<real_of<T>, double>) return CUBLAS_COMPUTE_64F;
  if constexpr (std::is_same_v<C, std::int32_t>) return CUBLAS_COMPUTE_32I;
  switch (math) {
    case math_mode::tf32:
      return CUBLAS_COMPUTE_32F_FAST_TF32;
    case math_mode::bf16:
      return CUBLAS_COMPUTE_32F_FAST_16BF;
    case math_mode::f16:
      return CUBLAS_COMPUTE_32F_FAST_16F;
#if CUBLAS_VERSION >= 120900
    case math_mode::bf16x9:
      return CUBLAS_COMPUTE_32F_EMULATED_16BFX9;
#endif
    default:
      return CUBLAS_COMPUTE_32F;
  }
}

/// The fields that all products of a batch have in common.
struct product_shape {
  op trans_a, trans_b;
  std::int64_t m, n, k, lda, ldb, ldc;
  std::int64_t columns_a() const noexcept { return trans_a == op::none ? k : m; }
  std::int64_t columns_b() const noexcept { return trans_b == op::none ? n : k; }
};
/// Returns the shape of the products of `r`. `R` is a request or a gemm_group.
template <class R>
product_shape shape_of(const R& r) noexcept {
  return {.trans_a = r.trans_a,
          .trans_b = r.trans_b,
          .m = r.m.value(),
          .n = r.n.value(),
          .k = r.k.value(),
          .lda = or_tight(r.lda, r.trans_a == op::none ? r.m : r.k).value(),
          .ldb = or_tight(r.ldb, r.trans_b == op::none ? r.k : r.n).value(),
          .ldc = or_tight(r.ldc, r.m).value()};
}

/// Returns true for products so small that the overhead of cuBLAS costs as much as the product. Our kernel computes
/// them, with the same bits alone and together with others.
inline bool is_small(const product_shape& s) noexcept {
  constexpr std::int64_t longest = 256, most_work = 64 * 64 * 64;
  return s.m <= longest && s.n <= longest && s.k <= longest && s.m * s.n * s.k <= most_work;
}

template <class S>
kernel_arguments::product product_of(const product_shape& s, const scalar<S>& alpha, const scalar<S>& beta,
                                     const void* a, const void* b, void* c) noexcept {
  return {.alpha = number_of(alpha),
          .beta = number_of(beta),
          .a = a,
          .b = b,
          .c = c,
          .m = s.m,
          .n = s.n,
          .k = s.k,
          .lda = s.lda,
          .ldb = s.ldb,
          .ldc = s.ldc,
          .op_a = static_cast<std::int32_t>(s.trans_a),
          .op_b = static_cast<std::int32_t>(s.trans_b)};
}
inline std::int64_t tiles_of(std::int64_t m, std::int64_t n) noexcept {
  constexpr std::int64_t tile = kernel_arguments::tile;
  return (m + tile - 1) / tile * ((n + tile - 1) / tile);
}

/// Computes one product with our own kernel.
template <class T, class C>
result<void> multiply_ours(job& j, const kernel_arguments::product& one) {
  return j.launch(kernel<"multiply", T, C>, {1, at_most(tiles_of(one.m, one.n), 65535)}, {256},
                  kernel_arguments::products{.one = one, .all = nullptr});
}
/// Computes `count` products with our own kernel; fill(i) returns product i.
template <class T, class C, class Fill>
result<void> multiply_ours(job& j, std::size_t count, Fill&& fill) {
  constexpr std::size_t at_once = 1024;
  static_assert(at_once * sizeof(kernel_arguments::product) <= cuda::argument_ring::part_bytes);
  for (std::size_t first = 0; first < count; first += at_once) {
    TROUPE_TRY(j.next_part());
    const std::size_t here = std::min(at_once, count - first);
    const auto all = TROUPE_TRY(j.allocate<kernel_arguments::product>(here));
    std::int64_t tiles = 1;
    for (std::size_t i = 0; i < here; ++i) {
      const kernel_arguments::product p = fill(first + i);
      tiles = std::max(tiles, tiles_of(p.m, p.n));
      all[i] = p;
    }
    TROUPE_TRY(j.launch(kernel<"multiply", T, C>, {static_cast<unsigned>(here), at_most(tiles, 65535)}, {256},
                        kernel_arguments::products{.one = {}, .all = all}));
  }
  return {};
}

/// Returns true if cuBLAS accepts these matrices: int8 matrices must be aligned to 4 bytes, and an integer product
/// needs an alpha of 1 and a beta of 0 or 1.
template <class T, class S>
bool suits_cublas(const product_shape& s, const scalar<S>& alpha, const scalar<S>& beta) noexcept {
  if constexpr (std::is_same_v<T, std::int8_t>) {
    if (s.lda % 4 != 0 || s.ldb % 4 != 0) return false;
    if constexpr (std::is_same_v<S, std::int32_t>) return alpha.is(1) && (beta.is(0) || beta.is(1));
  }
  return true;
}
template <class T>
bool suits_cublas(const void* address) noexcept {
  return !std::is_same_v<T, std::int8_t> || reinterpret_cast<std::uintptr_t>(address) % 4 == 0;
}

/// Multiplies with cuBLAS, by attempt(compute type). If cuBLAS does not support the product, retries a product of float
/// with reduced precision in full float, and computes any other by `ours`.
template <class T, class C, class Attempt, class Ours>
result<void> multiply(job& j, const char* name, math_mode math, Attempt&& attempt, Ours&& ours) {
  const auto refused = [](cublasStatus_t s) {
    return s == CUBLAS_STATUS_NOT_SUPPORTED || s == CUBLAS_STATUS_ARCH_MISMATCH;
  };
  cublasStatus_t s = attempt(compute_type<T, C>(math));
  if (refused(s) && math != math_mode::exact) s = attempt(compute_type<T, C>(math_mode::exact));
  if (refused(s)) return ours();
  return j.checked(name, s);
}

}  // namespace troupe::blas
