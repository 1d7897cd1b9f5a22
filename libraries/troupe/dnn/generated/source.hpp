// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <troupe/dnn/sets/set_kernel.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <vector>

namespace troupe::dnn::generated {

/// CUDA C++ for the elementwise kernels and the set kernels of a plan. Those with the same text share a CUDA kernel.
struct source {
  struct kernel {
    std::string name;
    std::uint32_t threads = 0;
    std::string alone = {};  ///< a source of this kernel only, in which it has the name `name_alone`
  };
  static constexpr const char* name_alone = "troupe_dnn_pass";
  /// A launch of a kernel. The kernel's parameter is an array of addresses: of its operands, then of its sequences'
  /// seeds, or of a set kernel's results of parts; then these numbers.
  struct launch {
    std::uint16_t kernel = 0;
    std::uint32_t blocks = 0;
    std::vector<std::int64_t> numbers = {};
    std::uint16_t set_kernel = 0;  ///< the index among the set kernels of the step
  };
  std::string text;  ///< a source of all kernels
  std::vector<kernel> kernels;
  std::vector<std::vector<launch>> of_steps;  ///< for each step of the plan: its launches; none if it is not generated
};

/// Returns the set kernels that compute a fused step; none if it is another one.
using find_set_kernels = std::function<std::span<const sets::set_kernel>(const fused_step&)>;

/// Generates the CUDA kernels of a plan. `aligned` has a flag for each memory of the graph: true if its address is a
/// multiple of 16; addresses of the plan's buffers always are. If the source is compiled without fused multiply-add,
/// results have the same bits as those of the kernels `elements` and `interpret_sets`, which interpret the operations
/// one by one.
source source_of(const step_list& all, const find_set_kernels& set_kernels_of, const std::vector<bool>& aligned);

}  // namespace troupe::dnn::generated
