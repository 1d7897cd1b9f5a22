// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/handles.hpp>
#include <troupe/cuda/scratch.hpp>
#include <troupe/matmul/cuda/route.hpp>
#include <vector>

namespace troupe::matmul {

/// Times algorithms for a product on copies of its factors, as many as the GPU's cache does not hold. What the product
/// writes goes to memory of its own. Waits for the GPU.
class rehearsal {
 public:
  /// The bytes of what a product reads and writes.
  struct extents {
    std::uint64_t a = 0, b = 0, d = 0;
    std::uint64_t aux = 0, bias = 0;  ///< if it writes them
  };
  static extents extents_of(const multiplication& r, const problem& p, const route& way, const fused_form& f) noexcept;
  /// `arranged` is the memory that the route's copies of the factors are in.
  static result<rehearsal> make(const call& c, const product_arguments& a, const number& alpha, const number& beta,
                                const extents& e, cuda::scratch arranged);
  /// Returns the microseconds that the product takes, on average.
  result<double> time(cublasLtHandle_t library, const product_plan& plan, void* workspace, CUstream stream);

 private:
  rehearsal(std::vector<product_arguments> turns, const number& alpha, const number& beta, cuda::scratch arranged,
            cuda::scratch copies, cuda::event begin, cuda::event end) noexcept;
  result<double> run(cublasLtHandle_t library, const product_plan& plan, int times, void* workspace, CUstream stream);

  std::vector<product_arguments> turns_;
  number alpha_, beta_;
  bool numbers_in_memory_;
  cuda::scratch arranged_, copies_;
  cuda::event begin_, end_;
  std::size_t next_ = 0;
};

}  // namespace troupe::matmul
