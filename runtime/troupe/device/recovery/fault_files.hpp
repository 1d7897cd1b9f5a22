// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/base/result.hpp>
#include <troupe/device/fault.hpp>

namespace troupe {

/// Replaces the characters of a device's name that are unsuitable in the name of a file.
std::string name_for_files(std::string device);

/// Writes the record to a new file in the folder, and removes the device's oldest files if there are too many. Never
/// overwrites a file, and follows no symbolic link with the file's name. Returns the path.
result<std::string> write_to_folder(const std::string& folder, const fault_record& record);

}  // namespace troupe
