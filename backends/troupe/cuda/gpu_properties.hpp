// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <troupe/base/result.hpp>

namespace troupe::cuda {

/// The properties of a GPU that plans and measured choices depend on.
struct gpu_properties {
  int capability = 0;  ///< 10 * major + minor: 90 for 9.0
  int multiprocessors = 1;
  std::int64_t shared_bytes = 0;   ///< maximum bytes of shared memory of a block
  std::int64_t l2_bytes = 0;       ///< bytes of the L2 cache
  double gigahertz = 1;            ///< highest clock rate of the multiprocessors
  double memory_bytes_per_ns = 1;  ///< peak bandwidth of the memory
  /// Description for messages and for keys on disk: the GPU's name, capability, number of multiprocessors, memory,
  /// bandwidth and clock rate, and the driver's version.
  std::string name;

  /// Queries the driver. `domain` names the library in errors.
  static result<gpu_properties> of(int device, std::string_view domain);
  bool has_float8() const noexcept { return capability >= 89; }
};

}  // namespace troupe::cuda
