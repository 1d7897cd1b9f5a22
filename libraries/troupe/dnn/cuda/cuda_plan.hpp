// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <span>
#include <troupe/dnn/sets/set_kernel.hpp>
#include <troupe/dnn/steps/graph_analysis.hpp>
#include <troupe/dnn/steps/graph_kind.hpp>
#include <troupe/dnn/steps/steps.hpp>
#include <troupe/dnn/steps/vendor_kernel.hpp>
#include <vector>

namespace troupe::dnn {

/// The plan of a graph. `fused_step::match` counts all matches: first those of vendor kernels (cuDNN), then stored-type
/// steps, then set kernels.
struct cuda_plan : step_list {
  std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels;
  std::vector<operator_step> stored_type_steps = {};
  std::vector<std::vector<sets::set_kernel>> set_kernels = {};

  /// Returns the vendor kernel that computes a fused step; null if our own kernel does.
  const vendor_kernel* vendor_kernel_of(const fused_step& s) const noexcept {
    return s.match < vendor_kernels.size() ? vendor_kernels[s.match].get() : nullptr;
  }
  /// Returns the set kernels that compute a fused step; none if it is another one.
  std::span<const sets::set_kernel> set_kernels_of(const fused_step& s) const noexcept {
    const std::size_t before = vendor_kernels.size() + stored_type_steps.size();
    if (s.match < before) return {};
    return set_kernels[s.match - before];
  }
  /// Returns the stored-type step that computes a fused step. Precondition: no vendor kernel or set kernel computes it.
  const operator_step& stored_type_step_of(const fused_step& s) const noexcept {
    return stored_type_steps[s.match - vendor_kernels.size()];
  }
};

/// Plans depend on which memory begins at a multiple of this number of bytes.
inline constexpr std::uint64_t memory_alignment = 16;
/// Returns, for each memory of a graph, true if it begins at a multiple of 16 bytes.
std::vector<bool> aligned_memory_of(const encoded_graph& g);
inline graph_analysis analysis_of(const encoded_graph& g) { return {g, aligned_memory_of(g)}; }

/// Plans a graph. The vendor kernels compute the nodes of their matches, which the analysis must list as matched; our
/// own kernels compute all other nodes. If `saves_memory`, uses the kernels that need least workspace.
cuda_plan make_cuda_plan(std::vector<std::unique_ptr<vendor_kernel>> vendor_kernels, graph_analysis analysis,
                         bool saves_memory = false);

/// Tells the vendor kernels of a plan where their operands are. Returns false if the plan and its kernels need more
/// than `workspace` bytes. Fails if that cannot be found out now.
result<bool> place_vendor_kernels(cuda_plan& plan, std::uint64_t workspace, const call& c);

}  // namespace troupe::dnn
