// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace troupe {

/// Makes sure that a child made by fork() does not get these pages, which a stray access there would change for the
/// parent. Best effort: a kernel may refuse.
void keep_from_children(std::byte* data, std::size_t bytes) noexcept;

}  // namespace troupe
