// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// Consistent figures at one moment.
struct memory_statistics {
  std::uint64_t total_bytes = 0;       ///< what the device may allocate
  std::uint64_t free_bytes = 0;        ///< total minus used
  std::uint64_t used_bytes = 0;        ///< in live buffers, rounded up to 256 each
  std::uint64_t high_water_bytes = 0;  ///< the most ever used at once, with what is kept for the next small uploads
  std::uint64_t reserved_bytes = 0;    ///< taken from the system so far
  std::uint64_t live_buffers = 0;
  std::uint64_t sealed_bytes = 0;    ///< in buffers that are sealed
  std::uint64_t imported_bytes = 0;  ///< in buffers in memory of other programs; not part of `used_bytes`
  std::uint64_t managed_bytes = 0;   ///< in buffers of managed memory; not part of `used_bytes`
  std::uint64_t allocations = 0;     ///< since the device was opened
  std::uint64_t failed_allocations = 0;
  double fragmentation = 0;  ///< 0: all free reserved memory is one range
};

}  // namespace troupe
