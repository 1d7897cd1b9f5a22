// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <troupe/base/dtype.hpp>

/// cuBLASLt and cuBLAS called directly, for the same products as those of the library actors matmul and cutlass.
namespace troupe::bench {

/// Products of cuBLASLt, with the first algorithm of its heuristic, each with its own matrices: D = A * B^T, where A is
/// m x k and B is n x k; all are stored row by row.   cublasLtMatmul
class raw_matmuls {
 public:
  virtual ~raw_matmuls() = default;
  /// Returns the words that describe the algorithm. Precondition: a product was computed.
  virtual std::array<std::uint64_t, 8> algorithm() const = 0;
  /// Returns how many calls and kernels compute a product. Precondition: a product was computed.
  virtual int calls() const = 0;
  virtual void multiply(int which) = 0;
  /// Waits for earlier products: see raw_kernel.
  virtual void poll_until_done() = 0;
  virtual void synchronize() = 0;
  virtual void download(int which, std::span<std::byte> d) = 0;
  /// Downloads the tensor that the epilogue writes in addition to D.
  virtual void download_second(int which, std::span<std::byte> to) = 0;
};

enum class raw_matmul_type : std::uint8_t {
  bf16,
  f16,
  tf32,  ///< elements are float
  f64,
  fp8,         ///< e4m3, with a result in bf16
  fp8_to_fp8,  ///< e4m3, with a result in e4m3
  s8           ///< the result has 32 bits
};
enum class raw_matmul_epilogue : std::uint8_t {
  none,
  bias_relu,
  bias_gelu,
  bias_gelu_aux,  ///< second: the argument of gelu, in D's type
  swiglu,         ///< B has 2n rows; D = silu(left) * right. A product with 2n columns, then a kernel
  sum_rows,       ///< D = A * B^T + C; second: the sum of each row, in f32. A product that adds C, then a kernel
  quantize        ///< D = scale * A * B^T; second: the largest magnitude before the scale. One call, or a product and a
                  ///< kernel
};
struct raw_matmul_problem {
  raw_matmul_type type;
  int m, n, k;
  int count = 1;
  raw_matmul_epilogue epilogue = raw_matmul_epilogue::none;
  bool fast = false;  ///< sums of 8-bit floats are not promoted to f32 at intervals
  float scale = 1;    ///< factor of `quantize`

  constexpr int rows_of_b() const noexcept { return epilogue == raw_matmul_epilogue::swiglu ? 2 * n : n; }
};
struct raw_matmul_elements {
  dtype factor, result;
};
constexpr raw_matmul_elements elements_of(raw_matmul_type t) noexcept {
  switch (t) {
    case raw_matmul_type::bf16:
      return {dtype::bf16, dtype::bf16};
    case raw_matmul_type::f16:
      return {dtype::f16, dtype::f16};
    case raw_matmul_type::tf32:
      return {dtype::f32, dtype::f32};
    case raw_matmul_type::f64:
      return {dtype::f64, dtype::f64};
    case raw_matmul_type::fp8:
      return {dtype::f8e4m3, dtype::bf16};
    case raw_matmul_type::fp8_to_fp8:
      return {dtype::f8e4m3, dtype::f8e4m3};
    case raw_matmul_type::s8:
      break;
  }
  return {dtype::i8, dtype::i32};
}

/// Groups of rows, each with its own matrix: D_g = A_g * B_g^T in bf16. The groups of A and D follow each other.
class raw_groups {
 public:
  virtual ~raw_groups() = default;
  virtual void multiply_at_once() = 0;     ///< cublasGemmGroupedBatchedEx
  virtual void multiply_one_by_one() = 0;  ///< cublasLtMatmul for each group that has rows
  virtual void synchronize() = 0;
  virtual void download(std::span<std::byte> d) = 0;
};

/// Blocks of memory that a kernel reads, 16 bytes at a time.
class raw_reads {
 public:
  virtual ~raw_reads() = default;
  virtual void read(int which) = 0;
  virtual void synchronize() = 0;
};

}  // namespace troupe::bench
