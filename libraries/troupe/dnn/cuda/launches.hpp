// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/launch.hpp>
#include <troupe/dnn/cuda/kernel_arguments.hpp>
#include <troupe/dnn/generated/source.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn {

/// Blocks per multiprocessor beyond which a launch has no use for more.
inline constexpr std::int64_t blocks_of_a_multiprocessor = 32;

/// The context of a graph's launches: its addresses, the memory between its steps, and the stream.
struct launch_site {
  const cuda::kernel_set& kernels;
  const encoded_graph& graph;
  std::uint64_t scratch;
  const step_list& all;
  CUstream stream;
  std::int64_t most_blocks;  ///< most blocks of a launch on this GPU

  void* at(const location& l) const noexcept {
    const std::uint64_t base = l.is_buffer ? scratch + all.buffers[l.number] : graph.memory()[l.number].address;
    return reinterpret_cast<void*>(base + static_cast<std::uint64_t>(l.offset) * bytes_of(l.type));
  }
};

/// Returns images and windows as arguments of kernels.
kernel_arguments::windows windows_of(const sliding& s, const tensor_shape& image, const tensor_shape& result,
                                     const std::int64_t* widths) noexcept;

/// The limits of elementwise kernels.
extern const elementwise_limits limits_of_kernels;

/// Separates the work before it in the stream from the work behind it, even if these kernels allow overlap.
result<void> enqueue_pause(const launch_site& w);
/// Enqueue a step.
result<void> enqueue(const elementwise_kernel& p, const launch_site& w);
result<void> enqueue(const operator_step& s, const launch_site& w);
/// Enqueues an elementwise kernel by the kernel that was generated for it.
result<void> enqueue_kernel(CUkernel kernel, const generated::source::kernel& how, const elementwise_kernel& p,
                            const launch_site& w);
/// Enqueue normalisations across channels, resamplings, pooling with indexes; and blocks with scales.
result<void> enqueue_of_images(const operator_step& s, const launch_site& w);
result<void> enqueue_of_blocks(const operator_step& s, const launch_site& w);

}  // namespace troupe::dnn
