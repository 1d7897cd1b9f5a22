// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/launch.hpp>
#include <troupe/dnn/cuda/kernel_arguments.hpp>
#include <troupe/dnn/generated/source.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn {

/// How many blocks a launch is worth for each multiprocessor.
inline constexpr std::int64_t blocks_of_a_multiprocessor = 32;

/// Where a graph is computed: its addresses, memory between its steps, and the stream.
struct launch_site {
  const cuda::kernel_set& kernels;
  const encoded_graph& graph;
  std::uint64_t scratch;
  const step_list& all;
  CUstream stream;
  std::int64_t most_blocks;  ///< that a launch is worth on this GPU

  void* at(const location& l) const noexcept {
    const std::uint64_t base = l.is_buffer ? scratch + all.buffers[l.number] : graph.memory()[l.number].address;
    return reinterpret_cast<void*>(base + static_cast<std::uint64_t>(l.offset) * bytes_of(l.type));
  }
};

/// Images and windows as kernels see them.
kernel_arguments::windows windows_of(const sliding& s, const tensor_shape& image, const tensor_shape& result,
                                     const std::int64_t* widths) noexcept;

/// The passes that the kernels take.
extern const elementwise_limits limits_of_kernels;

/// Keeps apart what the stream has before and behind it, whatever these allow each other.
result<void> enqueue_pause(const launch_site& w);
/// Enqueue a step.
result<void> enqueue(const elementwise_kernel& p, const launch_site& w);
result<void> enqueue(const operator_step& s, const launch_site& w);
/// The same as `enqueue` of an elementwise kernel, by a kernel that was written for it.
result<void> enqueue_kernel(CUkernel kernel, const generated::source::kernel& how, const elementwise_kernel& p,
                            const launch_site& w);
/// Of normalisations across channels, resamplings, pooling with indexes, and blocks with scales.
result<void> enqueue_of_images(const operator_step& s, const launch_site& w);
result<void> enqueue_of_blocks(const operator_step& s, const launch_site& w);

}  // namespace troupe::dnn
