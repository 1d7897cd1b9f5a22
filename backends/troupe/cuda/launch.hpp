// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstdint>

namespace troupe::cuda {

struct grid {
  unsigned x = 1, y = 1, z = 1;
};
/// Returns `wanted`, clamped to 1 … `limit`.
inline unsigned at_most(std::int64_t wanted, std::int64_t limit) noexcept {
  return static_cast<unsigned>(std::clamp<std::int64_t>(wanted, 1, limit));
}

/// Launches a kernel whose only parameter is a struct.
template <class A>
CUresult launch(CUkernel kernel, grid blocks, grid threads, CUstream stream, const A& arguments) noexcept {
  void* parameters[] = {const_cast<void*>(static_cast<const void*>(&arguments))};
  return ::cuLaunchKernel(reinterpret_cast<CUfunction>(kernel), blocks.x, blocks.y, blocks.z, threads.x, threads.y,
                          threads.z, 0, stream, parameters, nullptr);
}

}  // namespace troupe::cuda
