// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <troupe/base/linux/file_descriptor.hpp>

namespace troupe {

/// Moves a descriptor that the library opened to a number above `number`, unless its number is above already. Returns
/// an empty descriptor, with the reason in errno, if `fd` is empty or cannot be moved.
file_descriptor above(int number, file_descriptor fd) noexcept;
/// Moves a descriptor above 2. If a program has closed 0, 1 and 2, new files get these numbers, which its children need
/// for their standard descriptors.
file_descriptor above_standard(file_descriptor fd) noexcept;

/// Returns true if the descriptor is open and children inherit it. (If a program has closed a standard descriptor,
/// another file of its own may have that number, and children must not get that file.)
bool is_inherited(int fd) noexcept;

/// Creates an empty file in memory that can be sealed but not made executable. On failure returns an empty descriptor,
/// with the reason in errno.
file_descriptor create_in_memory(const char* name) noexcept;

}  // namespace troupe
