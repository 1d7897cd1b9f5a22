// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/dnn/steps/steps.hpp>
#include <vector>

namespace troupe::dnn::generated {

/// CUDA C++ for the elementwise kernels of a plan. Equal elementwise kernels share a CUDA kernel.
struct source {
  static constexpr std::uint16_t none = 0xffff;
  /// A CUDA kernel and its launch. Its parameter is an array of the addresses of its operands, then of its sequences'
  /// seeds.
  struct kernel {
    std::string name;
    std::uint32_t blocks = 0, threads = 0;
  };
  std::string text;
  std::vector<kernel> kernels;
  std::vector<std::uint16_t> of_steps;  ///< per step of the plan: the index of its kernel, or `none`
};

/// Generates the CUDA kernels of a plan. `aligned`: per memory of the graph, true if it begins at a multiple of 16
/// bytes; buffers of the plan always do. Results are bit-identical to those of the interpreting kernel if the source is
/// compiled without fused multiply-add.
source source_of(const step_list& all, const std::vector<bool>& aligned);

}  // namespace troupe::dnn::generated
