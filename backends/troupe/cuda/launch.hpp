// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <troupe/cuda/kernels.hpp>
#include <troupe/cuda/stream_status.hpp>

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

/// Launches a kernel of an engine's image. `domain` names the library in errors.
template <class A>
result<void> launch(const kernel_set& image, kernel_id which, grid blocks, grid threads, CUstream stream,
                    const char* domain, const A& arguments) {
  const CUkernel found = image.find(which);
  if (found == nullptr) [[unlikely]]
    return error(reaction::fatal, domain, "the engine's image has no kernel " + std::string(which.name));
  return done_on(stream, domain, "cuLaunchKernel", launch(found, blocks, threads, stream, arguments));
}

}  // namespace troupe::cuda
