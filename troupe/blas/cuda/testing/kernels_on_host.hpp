// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <vector>

/// kernels.cu, compiled for the processor: so that what the kernels compute is tested without a GPU.
namespace troupe::blas::testing {

struct extents {
  unsigned x, y, z;
};
struct host_kernel {
  const char* name;
  std::size_t argument_bytes;
  void (*run)(const void* arguments);  ///< one thread
};
const std::vector<host_kernel>& host_kernels();

/// Runs all blocks, one after the other; the threads of a block take turns at its barriers.
void run_on_host(const host_kernel& kernel, extents blocks, extents threads, const void* arguments);

}  // namespace troupe::blas::testing
