// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace troupe {

/// Excludes these pages from children made by fork(): a stray write in a child would change them for the parent. Best
/// effort: Linux may refuse.
void keep_from_children(std::byte* data, std::size_t bytes) noexcept;

}  // namespace troupe
