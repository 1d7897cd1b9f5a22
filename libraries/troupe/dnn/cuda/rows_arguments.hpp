// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/dtype.hpp>

/// Arguments of the kernels of normalisations over rows: rows without gaps, whose elements are f32, f16 or bf16.
namespace troupe::dnn::kernel_arguments {

/// Elements of a vector, and the most vectors of a row per thread. A row has 32, 64 ... threads.
inline constexpr int of_vector = 8, vectors_back = 2;
constexpr int vectors_of_thread(std::size_t element) noexcept { return element < sizeof(float) ? 4 : 2; }
/// Threads of a block.
inline constexpr unsigned fewest_threads = 128, most_threads = 1024, most_threads_back = 512;
/// Bytes of the next rows of dy and x, of half types, that a block copies while it computes.
inline constexpr unsigned bytes_ahead = 2 * most_threads_back * vectors_back * of_vector * 2;

struct rows {
  std::int64_t count, width;
  std::int64_t rms;                       ///< 1: no mean is subtracted
  std::uint32_t threads, log_of_threads;  ///< of a row
};
struct numbers_of_rows {
  const void* memory;
  dtype type;
};

struct normalizing_rows {
  rows all;
  numbers_of_rows x, scale, offset;  ///< memory of the last two may be nullptr
  void* y;
  dtype type_of_y;
  float *mean, *deviation;
  double epsilon;
};
struct normalizing_rows_back {
  rows all;
  numbers_of_rows dy, x, scale;
  const float *mean, *deviation;
  void* dx;
  dtype type_of_dx;
  std::int64_t parts;         ///< parts of all rows; a block processes one at a time
  float *dscales, *doffsets;  ///< rows of sums: for each part, and each of the rows that its block processes at once;
                              ///< or nullptr
};

}  // namespace troupe::dnn::kernel_arguments
