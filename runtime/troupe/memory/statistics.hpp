// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// The memory of a device; all figures are of one moment.
struct memory_statistics {
  std::uint64_t total_bytes = 0;       ///< the limit of what the device allocates
  std::uint64_t free_bytes = 0;        ///< total minus used
  std::uint64_t used_bytes = 0;        ///< in live buffers, rounded up to 256 each
  std::uint64_t high_water_bytes = 0;  ///< the maximum of memory in use, including blocks kept for small uploads
  std::uint64_t reserved_bytes = 0;    ///< taken from the system at present
  std::uint64_t live_buffers = 0;
  std::uint64_t sealed_bytes = 0;    ///< in sealed buffers
  std::uint64_t imported_bytes = 0;  ///< in buffers that use memory of other programs; not part of `used_bytes`
  std::uint64_t managed_bytes = 0;   ///< in buffers of managed memory; not part of `used_bytes`
  std::uint64_t allocations = 0;     ///< number since the device was opened
  std::uint64_t failed_allocations = 0;
  double fragmentation = 0;  ///< 0 if all free reserved memory is one range
};

}  // namespace troupe
