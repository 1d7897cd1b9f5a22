// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <troupe/base/file_descriptor.hpp>

namespace troupe::plan {

/// Reads a regular file. Returns nothing, with the reason in errno, if that fails.
std::optional<std::string> read_file(const std::string& path);
/// Reads all `bytes` bytes of a file that has just been opened.
std::optional<std::string> read_all(int fd, std::size_t bytes);
/// Makes a new file in `folder`, and the folders that its name contains.
bool write_file(const std::string& folder, const std::string& name, std::string_view bytes);

}  // namespace troupe::plan
