// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/base/result.hpp>
#include <troupe/device/fault.hpp>

namespace troupe {

/// Returns the device's name with the characters replaced that are unsuitable in a file name.
std::string name_for_files(std::string device);

/// Writes the record to a new file in the folder, and removes the oldest files of the device if there are many. Never
/// overwrites a file, and follows no symbolic link at the file's name. Returns the path.
result<std::string> write_to_folder(const std::string& folder, const fault_record& record);

}  // namespace troupe
