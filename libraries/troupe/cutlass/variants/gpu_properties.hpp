// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace troupe::cutlass {

/// Properties of a GPU that plans depend on.
struct gpu_properties {
  int capability = 0;  ///< 90 for 9.0
  int multiprocessors = 1;
  std::int64_t shared_bytes = 0;   ///< the most that a block can have
  std::int64_t l2_bytes = 0;       ///< bytes
  double gigahertz = 1;            ///< at most
  double memory_bytes_per_ns = 1;  ///< at most
  std::string name;                ///< for messages and for keys on disk: with the driver's version
};

}  // namespace troupe::cutlass
