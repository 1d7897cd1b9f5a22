// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/launches.hpp>

namespace troupe::dnn {

/// Launches a kernel of our own, of the numbers that the graph is computed in.
template <fixed_string Name, class A>
result<void> launch(const launch_site& w, std::int64_t blocks, unsigned of_threads, const A& arguments) {
  const bool is_float = w.all.numbers == dtype::f32;
  return cuda::launch(w.kernels, is_float ? cuda::kernel<Name, float> : cuda::kernel<Name, double>,
                      {cuda::at_most(blocks, w.most_blocks)}, {of_threads}, w.stream, "dnn", arguments);
}
/// The same, with a thread for each element.
template <fixed_string Name, class A>
result<void> launch_for(const launch_site& w, std::int64_t elements, const A& arguments) {
  constexpr unsigned threads = 256;
  return launch<Name>(w, (elements + threads - 1) / threads, threads, arguments);
}

}  // namespace troupe::dnn
