// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <troupe/cuda/errors.hpp>
#include <troupe/cuda/pinned.hpp>
#include <troupe/graph/cuda/memory.hpp>

namespace troupe::graph {

result<cuda::device_memory> device_pieces::make(std::uint64_t bytes) {
  CUdeviceptr made = 0;
  TROUPE_TRY(cuda::done(::cuMemAlloc(&made, bytes), "cuMemAlloc of memory for a graph"));
  return cuda::device_memory(made);
}

result<cuda::pinned_memory> pinned_pieces::make(std::uint64_t bytes) { return cuda::make_pinned(bytes); }

}  // namespace troupe::graph
