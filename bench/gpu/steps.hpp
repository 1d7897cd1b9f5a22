// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <vector>

namespace troupe::bench {

/// A sequence of small kernels of eight kinds, with grids of one to three blocks. Its result shows that each kernel ran
/// in its turn and with its own argument.
struct step {
  static constexpr int kinds = 8, threads = 32, most_blocks = 3, numbers = threads * most_blocks;
  int kind, blocks;

  static constexpr step of(int i) noexcept { return {(i * 5 + i / 8) % kinds, 1 + i % most_blocks}; }
  static constexpr std::uint32_t factor(int kind) noexcept { return 2u * static_cast<std::uint32_t>(kind) + 3; }
  /// Computes what the kernel does.
  void apply(std::vector<std::uint32_t>& to, std::uint32_t by) const noexcept {
    for (int i = 0; i < blocks * threads; ++i) {
      std::uint32_t& x = to[static_cast<std::size_t>(i)];
      x = x * factor(kind) + by;
    }
  }
};

inline constexpr const char* step_kernels = R"(
#define STEP(K)                                                             \
  extern "C" __global__ void step_##K(unsigned* numbers, unsigned by) {     \
    unsigned& x = numbers[blockIdx.x * blockDim.x + threadIdx.x];           \
    x = x * (2u * K + 3) + by;                                              \
  }
STEP(0) STEP(1) STEP(2) STEP(3) STEP(4) STEP(5) STEP(6) STEP(7)
)";

}  // namespace troupe::bench
