// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// The effect of a worker's fault on buffers that are not sealed: a broken kernel may have written anywhere. Sealed
/// buffers stay valid either way, and so does sent memory, which workers can only read.
enum class salvage : std::uint8_t {
  strict,     ///< all of them become stale
  untouched,  ///< those that an unfinished request could write become stale; the others are assumed to be unchanged
};

}  // namespace troupe
