// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/cuda/launch.hpp>
#include <troupe/dnn/cuda/kernel_arguments.hpp>
#include <troupe/dnn/steps/steps.hpp>

namespace troupe::dnn {

/// Where a graph is computed: its addresses, memory between its steps, and the stream.
struct launch_site {
  const cuda::kernel_set& kernels;
  const seen_graph& graph;
  std::uint64_t scratch;
  const step_list& all;
  CUstream stream;
  std::int64_t most_blocks;  ///< that a launch is worth on this GPU

  void* at(const location& l) const noexcept {
    const std::uint64_t base = l.is_buffer ? scratch + all.buffers[l.number] : graph.memory()[l.number].address;
    return reinterpret_cast<void*>(base + static_cast<std::uint64_t>(l.offset) * bytes_of(l.type));
  }
};

/// Launches a kernel of the graph's numbers, in at most as many blocks as are worth it.
template <fixed_string Name, class A>
result<void> launch(const launch_site& w, std::int64_t blocks, unsigned of_threads, const A& arguments) {
  const bool is_float = w.all.numbers == dtype::f32;
  return cuda::launch(w.kernels, is_float ? cuda::kernel<Name, float> : cuda::kernel<Name, double>,
                      {cuda::at_most(blocks, w.most_blocks)}, {of_threads}, w.stream, "dnn", arguments);
}
/// The same for a kernel that goes through elements.
template <fixed_string Name, class A>
result<void> launch_for(const launch_site& w, std::int64_t elements, const A& arguments) {
  constexpr unsigned threads = 256;
  return launch<Name>(w, (elements + threads - 1) / threads, threads, arguments);
}

/// Images and windows as kernels see them.
kernel_arguments::windows windows_of(const sliding& s, const tensor_shape& image, const tensor_shape& result,
                                     const std::int64_t* widths) noexcept;

/// The passes that the kernels take.
extern const pass_limits limits_of_kernels;

/// Enqueue a step.
result<void> enqueue(const pass& p, const launch_site& w);
result<void> enqueue(const whole_step& s, const launch_site& w);
/// Of normalisations across channels, resamplings, pooling with indexes, and blocks with scales.
result<void> enqueue_of_images(const whole_step& s, const launch_site& w);
result<void> enqueue_of_blocks(const whole_step& s, const launch_site& w);

}  // namespace troupe::dnn
