// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bench/raw/cuda_calls.hpp>

namespace troupe::bench {

/// The kernels of kernels.cu, for elements in bf16 unless a comment says otherwise. Addresses and sizes are multiples
/// of 16 bytes.
class plain_kernels {
 public:
  plain_kernels();
  /// Reads `bytes` bytes and ignores their values.
  void read(CUdeviceptr from, std::size_t bytes, const stream& on) const;
  /// D = silu(left half) * right half, of a product with 2n columns.
  void gate(CUdeviceptr product, CUdeviceptr d, std::int64_t rows, std::int64_t n, const stream& on) const;
  /// Writes the sum of each row, in f32.
  void sum_rows(CUdeviceptr d, CUdeviceptr sums, std::int64_t rows, std::int64_t n, const stream& on) const;
  /// D = scale * X in e4m3, and the largest magnitude of X in f32.
  void quantize(CUdeviceptr x, CUdeviceptr d, std::int64_t count, float scale, CUdeviceptr largest,
                const stream& on) const;

 private:
  CUfunction function(const char* name) const;
  unsigned blocks_for(std::int64_t threads) const;

  code_module module_;
  CUfunction read_, gate_, sum_rows_, quantize_;
  std::int64_t most_blocks_;  // blocks that run at the same time
  device_memory unused_;
};

}  // namespace troupe::bench
