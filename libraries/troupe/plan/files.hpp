// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <troupe/base/linux/file_descriptor.hpp>

namespace troupe::plan {

/// Returns the content of a regular file. If it cannot be read, returns nullopt and sets errno to the reason.
std::optional<std::string> read_file(const std::string& path);
/// Returns the next `bytes` bytes of an open file; nullopt if they cannot be read or the file ends before.
std::optional<std::string> read_all(int fd, std::size_t bytes);
/// Makes a new file in `folder`, and the folders in its name. If that fails, returns false and sets errno.
bool write_file(const std::string& folder, const std::string& name, std::string_view bytes);

}  // namespace troupe::plan
