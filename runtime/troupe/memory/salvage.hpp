// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace troupe {

/// What a fault of the worker does to buffers that are not sealed. A broken kernel may have written anywhere. What is
/// sealed stays as it is either way, and so does what the application has sent and workers may only read.
enum class salvage : std::uint8_t {
  strict,     ///< all go stale
  untouched,  ///< those go stale that an unfinished request could write; the others are believed to be as they were
};

}  // namespace troupe
