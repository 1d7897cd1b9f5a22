// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The arguments of the kernels in pack.cu. Compiled by the host compiler and nvcc.
namespace troupe::cutlass::kernel_arguments {

/// Lines of terms. Strides are in elements; an element has one term, or two terms in f4e2m1x2.
struct packed_lines {
  void* address;
  std::uint64_t type;
  std::int64_t line, term, batch;
};
struct packing {
  packed_lines from, packed;
  packed_lines scales;  ///< `term` is the stride from block to block
  std::int64_t lines, terms, block, batch;
};

}  // namespace troupe::cutlass::kernel_arguments
