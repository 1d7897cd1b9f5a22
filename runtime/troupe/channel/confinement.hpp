// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// The rights of a worker's process on the system: see docs/security.md.
enum class confinement : std::uint8_t {
  off,       ///< all that your user may do
  standard,  ///< as far as the system and the GPU's driver allow without harm
  strict,    ///< host engine only: fewer files and system calls; the device does not open where the system cannot do it
};

}  // namespace troupe
