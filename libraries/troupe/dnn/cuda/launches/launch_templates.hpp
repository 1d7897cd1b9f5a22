// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/dnn/cuda/kernels/kernel_arguments.hpp>
#include <troupe/dnn/cuda/kernels/kernel_sequence_arguments.hpp>
#include <troupe/dnn/cuda/launches/launches.hpp>

/// Templates that launch our kernels by name. launch<"convolution"> launches the kernel troupe_dnn_convolution_f32 or
/// troupe_dnn_convolution_f64; the file of its function template ends with its entry point.
namespace troupe::dnn {

/// Launches the kernel with this name for the type N.
template <fixed_string Name, class N, class A>
result<void> launch_for_type(const launch_context& on, std::int64_t blocks, unsigned of_threads, const A& arguments) {
  return cuda::launch(on.kernels, cuda::kernel<Name, N>, {cuda::at_most(blocks, on.most_blocks)}, {of_threads},
                      on.stream, "dnn", arguments);
}
/// Launches the kernel for the type in which the graph is computed.
template <fixed_string Name, class A>
result<void> launch(const launch_context& on, std::int64_t blocks, unsigned of_threads, const A& arguments) {
  return on.plan.compute_type == dtype::f32 ? launch_for_type<Name, float>(on, blocks, of_threads, arguments)
                                            : launch_for_type<Name, double>(on, blocks, of_threads, arguments);
}
/// Launches the kernel with a thread for each element, or with fewer threads if that takes too many blocks.
template <fixed_string Name, class A>
result<void> launch_per_element(const launch_context& on, std::int64_t elements, const A& arguments) {
  constexpr unsigned threads = 256;
  return launch<Name>(on, kernel_arguments::divided_up(elements, threads), threads, arguments);
}

/// Launches a product, in large tiles if there are enough of them for this GPU.
inline result<void> launch_product(const launch_context& on, const kernel_arguments::product_arguments& r) {
  const auto tiles = [&](std::int64_t rows, std::int64_t columns) {
    return r.batch.count * kernel_arguments::divided_up(r.m, rows) * kernel_arguments::divided_up(r.n, columns);
  };
  using kernel_arguments::product_threads;
  if (tiles(64, 64) >= on.most_blocks / blocks_of_a_multiprocessor)
    return launch<"multiply">(on, tiles(64, 64), product_threads, r);
  return launch<"multiply_small_tiles">(on, tiles(16, 32), product_threads, r);
}

/// Launches a kernel that sums the columns of one or two tables.
inline result<void> launch_sums(const launch_context& on, const kernel_arguments::add_lines_arguments& r) {
  return launch<"add_lines">(on, r.blocks(), kernel_arguments::adding_threads, r);
}

}  // namespace troupe::dnn
