// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cuda/route.hpp>
#include <vector>

namespace troupe::cutlass {

/// Times plans of a product on copies of its operands, as many as the GPU's cache does not hold. What the product
/// writes goes to memory of its own. Waits for the GPU.
class rehearsal {
 public:
  static result<std::unique_ptr<rehearsal>> make(const problem& p, const call& c, CUstream stream);
  /// Returns the microseconds that the product takes, the least of several averages.
  result<double> time(const route& way, lane& on);

 private:
  struct turn {
    problem product;
    std::vector<epilogue::tree_memory> memory;  // of its tree, which refers to it
    std::vector<std::byte> encoded;
  };
  rehearsal(const call& c, CUstream stream) : call_(c), stream_(stream) {}
  result<void> add_turn(const problem& p, std::uint64_t at);

  const call call_;
  CUstream stream_;
  std::optional<cuda::scratch> copies_;
  std::vector<std::unique_ptr<turn>> turns_;
  std::size_t next_ = 0;
};

}  // namespace troupe::cutlass
