// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <troupe/base/enumeration.hpp>

namespace troupe::cuda_on_host {

/// How the threads of a block run on the host.
enum class execution : std::uint8_t {
  loop,    ///< one after the other or in vector lanes
  split,   ///< as `loop`, once for each piece of code between barriers
  fibers,  ///< each on its own stack
  never,   ///< the kernel needs a GPU
};
TROUPE_ENUM(execution, loop, split, fibers, never)

}  // namespace troupe::cuda_on_host
