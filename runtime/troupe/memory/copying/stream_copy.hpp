// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace troupe {

/// Copies data that will not be read again soon. If the processor supports it, the stores bypass the caches. A large
/// copy in chunks then takes as long as one large memcpy, which bypasses the caches because of its size.
void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept;

}  // namespace troupe
