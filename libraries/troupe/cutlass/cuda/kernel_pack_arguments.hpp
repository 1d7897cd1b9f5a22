// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Arguments of the kernels in pack.cu. Compiled by the host compiler and nvcc.
namespace troupe::cutlass::kernel_arguments {

/// Lines of terms: the strides of elements, each of which has one term, or two in f4e2m1x2.
struct packed_lines {
  void* address;
  std::uint64_t type;
  std::int64_t line, term, batch;
};
struct packing {
  packed_lines from, packed;
  packed_lines scales;  ///< the stride from block to block is in `term`
  std::int64_t lines, terms, block, batch;
};

}  // namespace troupe::cutlass::kernel_arguments
