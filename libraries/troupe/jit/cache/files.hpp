// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <troupe/base/file_descriptor.hpp>

namespace troupe::jit {

/// All of an ordinary file. Nothing, with the reason in errno, when it cannot be had.
std::optional<std::string> read_file(const std::string& path);
/// All of a file that has just been opened, `bytes` long.
std::optional<std::string> read_all(int fd, std::size_t bytes);
/// Writes all of it to an open file. False, with the reason in errno, when there is no room, or a limit on the size of
/// files is met, which would otherwise be the end of this process.
bool write_all(int fd, std::string_view bytes);
/// Makes a new file in `folder`, with the folders its name has.
bool write_file(const std::string& folder, const std::string& name, std::string_view bytes);

}  // namespace troupe::jit
