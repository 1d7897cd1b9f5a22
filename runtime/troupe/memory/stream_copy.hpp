// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace troupe {

/// Copies data that will not be read again soon. If the processor supports that, the target bypasses its caches. A
/// large copy in chunks then costs as much as one large memcpy, which decides the same by its size.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

}  // namespace troupe
