// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace troupe {

/// memcpy for data that will not be read again soon: where the processor can, the target does not pass through its
/// caches. A large copy in chunks then costs what one large memcpy does, which decides the same way by its size.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

}  // namespace troupe
