// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// The restrictions of a worker process by the system: see docs/security.md.
enum class confinement : std::uint8_t {
  off,       ///< none: the worker may do everything that your user may do
  standard,  ///< as strict as the system and the GPU's driver allow without side effects
  strict,    ///< host engine only: fewer files and system calls; the device does not open if the system cannot do it
};

}  // namespace troupe
