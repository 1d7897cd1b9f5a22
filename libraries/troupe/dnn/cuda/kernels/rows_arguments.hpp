// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/dtype.hpp>

/// Arguments of the kernels of gradients of normalizations over dense rows. Elements are f32, f16 or bf16. A row has
/// 32, 64, 128,
/// ... threads.
namespace troupe::dnn::kernel_arguments {

/// Elements of a vector, and the most vectors of a row that one thread of a gradient's kernel has.
inline constexpr int elements_per_vector = 8, gradient_vectors = 2;
/// Fewest and most threads of a block.
inline constexpr unsigned fewest_threads = 128, most_gradient_threads = 512;
/// Bytes of shared memory for the next rows of dy and x, of half types, that a block copies while it computes.
inline constexpr unsigned bytes_ahead = 2 * most_gradient_threads * gradient_vectors * elements_per_vector * 2;

struct rows {
  std::int64_t count, width;
  std::int64_t rms;                       ///< 1 for an RMS normalization, which subtracts no mean
  std::uint32_t threads, log_of_threads;  ///< threads of a row, and the base-2 logarithm of their number
};
struct typed_memory {
  const void* memory;
  dtype type;
};

struct normalize_rows_gradient_arguments {
  rows all;
  typed_memory dy, x, scale;
  const float *mean, *deviation;
  void* dx;
  dtype type_of_dx;
  std::int64_t parts;  ///< parts into which the rows are divided; a block processes one at a time
  // Rows of sums of the gradients of scale and offset, or nullptr: for each part as many as the rows that a block
  // processes at once.
  float *dscales, *doffsets;
};

}  // namespace troupe::dnn::kernel_arguments
