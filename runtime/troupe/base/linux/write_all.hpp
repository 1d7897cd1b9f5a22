// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string_view>

namespace troupe {

/// Writes all bytes to an open file. Returns false, with the reason in errno, if the disk is full or the limit on file
/// sizes is reached. Without this function, reaching that limit would end the process.
bool write_all(int fd, std::string_view bytes);

/// Sets the size of an open file. Returns false, with the reason in errno, if that fails. Reaching the limit on file
/// sizes does not end the process.
bool resize_file(int fd, std::uint64_t bytes);

/// Returns the end of an error text that names the limit on file sizes, if `code` says that it was reached; otherwise
/// nothing.
std::string_view hint_of_size_limit(int code) noexcept;

}  // namespace troupe
