// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/timing_run.hpp>
#include <troupe/matmul/cuda/execution_plan.hpp>

namespace troupe::matmul {

/// Times algorithms for a product on copies of its factors, more than the GPU's cache can hold. Results are not written
/// to the request's memory. Each call waits for the GPU.
class timing_run {
 public:
  /// The bytes of each operand that a product reads or writes.
  struct operand_bytes {
    std::uint64_t a = 0, b = 0, d = 0;
    std::uint64_t aux = 0, bias = 0;  ///< 0 if the product does not write them
  };
  static operand_bytes operand_bytes_of(const multiplication& r, const problem& p, const execution_plan& plan,
                                        const fused_epilogue& f) noexcept;
  /// Copies the operands of the product with arguments `a`. Takes over `arranged`, the memory of the plan's copies.
  static result<timing_run> make(const call& c, const product_arguments& a, const number& alpha, const number& beta,
                                 const operand_bytes& e, cuda::scratch arranged);
  /// Returns the average time of the product in microseconds.
  result<double> time(cublasLtHandle_t library, const product_plan& plan, void* workspace, CUstream stream);

 private:
  using copied_products = cuda::copied_arguments<product_arguments>;
  timing_run(cuda::timing_run run, copied_products products, const number& alpha, const number& beta,
             cuda::scratch arranged) noexcept;

  cuda::timing_run run_;
  copied_products products_;
  number alpha_, beta_;
  bool numbers_in_memory_;
  cuda::scratch arranged_;
};

}  // namespace troupe::matmul
