// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/file_descriptor.hpp>

namespace troupe {

/// Moves a descriptor of the library's own above `number`, unless it is. Returns none, with the reason in errno, if it
/// was none or if it cannot be moved.
file_descriptor above(int number, file_descriptor fd) noexcept;
/// Moves it above 2: a program may have closed 0, 1 and 2, and a child gets its standard descriptors there.
file_descriptor above_standard(file_descriptor fd) noexcept;

/// Returns false for a descriptor that is closed, and for one that a child must not get: where a program has closed its
/// standard descriptors, another file of its own may have that number.
bool is_inherited(int fd) noexcept;

/// Creates an empty file in memory, which can be sealed and cannot be made executable. Returns none, with the reason in
/// errno, if that fails.
file_descriptor create_in_memory(const char* name) noexcept;

}  // namespace troupe
