// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <span>
#include <troupe/cuda/launch.hpp>
#include <troupe/dnn/cuda/kernels/kernel_arguments.hpp>
#include <troupe/dnn/generated/kernel_compiler.hpp>
#include <troupe/dnn/sets/set_kernel.hpp>
#include <troupe/dnn/steps/planner.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn {

/// The most blocks for each multiprocessor that make a launch faster.
inline constexpr std::int64_t blocks_of_a_multiprocessor = 32;

/// The context of a graph's launches: kernels, addresses, workspace and stream.
struct launch_context {
  const cuda::kernel_set& kernels;
  const encoded_graph& graph;
  std::uint64_t workspace;  ///< address of the plan's workspace
  const step_list& plan;
  CUstream stream;
  std::int64_t most_blocks;  ///< the most blocks of a launch on this GPU

  void* at(const location& l) const noexcept {
    const std::uint64_t base = l.is_buffer ? workspace + plan.buffers[l.number] : graph.memory()[l.number].address;
    return reinterpret_cast<void*>(base + static_cast<std::uint64_t>(l.offset) * bytes_of(l.type));
  }
  void* at(const location* l) const noexcept { return l != nullptr ? at(*l) : nullptr; }
};

/// The limits of elementwise kernels that the kernel `elements` can interpret, and the workspace of operator steps.
extern const elementwise_limits limits_of_kernels;

/// Enqueues a kernel that keeps the kernels before and after it in the stream from overlapping.
result<void> enqueue_order_barrier(const launch_context& on);
/// Enqueue a step that our own kernels compute, elementwise and set kernels by interpretation, an operator step by the
/// function that graph/op_list.inc names for its operation, for example enqueue_convolution in
/// launches/convolution.cpp.
result<void> enqueue(const elementwise_kernel& k, const launch_context& on);
result<void> enqueue(const operator_step& s, const launch_context& on);
result<void> enqueue(std::span<const sets::set_kernel> all, const launch_context& on);

/// The kernels of a plan that were generated for some of its steps.
struct generated_kernels_of_plan {
  const generated::source& from;
  const generated::generated_kernels& kernels;

  /// Returns a kernel of the source; null if it is not compiled.
  CUkernel kernel(std::size_t i) const noexcept { return kernels[i] != nullptr ? kernels[i]->get() : nullptr; }
  /// Returns the launches of a step; none if its operations must be interpreted.
  std::span<const generated::source::launch> launches_of(std::size_t step) const noexcept {
    const std::span<const generated::source::launch> all = from.of_steps[step];
    const bool is_ready = std::ranges::all_of(all, [this](const auto& l) { return kernel(l.kernel) != nullptr; });
    return is_ready ? all : all.first(0);
  }
};
/// Enqueue the launches of the kernels that were generated for a step.
result<void> enqueue_generated(const generated_kernels_of_plan& all, std::size_t step, const elementwise_kernel& k,
                               const launch_context& on);
result<void> enqueue_generated(const generated_kernels_of_plan& all, std::size_t step,
                               std::span<const sets::set_kernel> of_step, const launch_context& on);

}  // namespace troupe::dnn
