// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda.h>

#include <cstddef>
#include <troupe/base/try.hpp>
#include <troupe/cuda/errors.hpp>
#include <troupe/cuda/handles.hpp>

namespace troupe::cuda {

/// Allocates pinned host memory that all contexts and the GPU access at the same address.
inline result<pinned_memory> make_pinned(std::size_t bytes) {
  void* made = nullptr;
  TROUPE_TRY(
      done(::cuMemHostAlloc(&made, bytes, CU_MEMHOSTALLOC_PORTABLE | CU_MEMHOSTALLOC_DEVICEMAP), "cuMemHostAlloc"));
  return pinned_memory(static_cast<std::byte*>(made));
}

}  // namespace troupe::cuda
