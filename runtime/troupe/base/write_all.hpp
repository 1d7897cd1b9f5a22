// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe {

/// Writes all bytes to an open file. Returns false, with the reason in errno, if the disk is full or the limit on file
/// sizes is reached; that limit would otherwise end the process.
bool write_all(int fd, std::string_view bytes);

/// Sets the size of an open file. Returns false, with the reason in errno, if that fails; as above.
bool resize_file(int fd, std::uint64_t bytes);

/// Returns the end of an error's text that names the limit on file sizes, if it is the reason; otherwise nothing.
std::string_view hint_of_size_limit(int code) noexcept;

}  // namespace troupe
