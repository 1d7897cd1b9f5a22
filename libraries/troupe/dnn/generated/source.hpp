// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <troupe/dnn/steps/steps.hpp>
#include <vector>

namespace troupe::dnn::generated {

/// CUDA C++ for the elementwise kernels of a plan. Elementwise kernels with the same text share a CUDA kernel.
struct source {
  static constexpr std::uint16_t none = 0xffff;
  /// A CUDA kernel and its launch. Its parameter is an array of addresses: of its operands, then of its sequences'
  /// seeds.
  struct kernel {
    std::string name;
    std::uint32_t blocks = 0, threads = 0;
  };
  std::string text;
  std::vector<kernel> kernels;
  std::vector<std::uint16_t> of_steps;  ///< for each step of the plan: the index of its kernel, or `none`
};

/// Generates the CUDA kernels of a plan. `aligned` has a flag for each memory of the graph: true if its address is a
/// multiple of 16; addresses of the plan's buffers always are. If the source is compiled without fused multiply-add,
/// results have the same bits as those of the kernel `elements`, which interprets the operations one by one.
source source_of(const step_list& all, const std::vector<bool>& aligned);

}  // namespace troupe::dnn::generated
