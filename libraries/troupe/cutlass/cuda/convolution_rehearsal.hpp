// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cutlass/cuda/convolutions.hpp>

namespace troupe::cutlass {

/// Times ways of a convolution on copies of its operands, as `rehearsal` does for products.
class convolution_rehearsal {
 public:
  static result<std::unique_ptr<convolution_rehearsal>> make(const convolution_problem& p, const call& c,
                                                             CUstream stream);
  /// Returns the microseconds that the convolution takes, the least of several averages.
  result<double> time(const convolution_route& way, const chip& chip, lane& on);

 private:
  struct turn {
    convolution_problem of;
    std::vector<std::byte> encoded;  // its tree
  };
  convolution_rehearsal(const call& c, CUstream stream) : call_(c), stream_(stream) {}
  result<void> add_turn(const convolution_problem& p, std::uint64_t at);

  const call call_;
  CUstream stream_;
  std::optional<cuda::scratch> copies_;
  std::vector<std::unique_ptr<turn>> turns_;
  std::size_t next_ = 0;
};

}  // namespace troupe::cutlass
