// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace troupe::cutlass {

/// Properties of a GPU that plans depend on.
struct gpu_properties {
  int capability = 0;  ///< 10 * major + minor: 90 for 9.0
  int multiprocessors = 1;
  std::int64_t shared_bytes = 0;   ///< maximum bytes of shared memory of a block
  std::int64_t l2_bytes = 0;       ///< bytes of the L2 cache
  double gigahertz = 1;            ///< highest clock
  double memory_bytes_per_ns = 1;  ///< peak bandwidth of the memory
  std::string name;                ///< description for messages and for keys on disk, with the driver's version
};

}  // namespace troupe::cutlass
