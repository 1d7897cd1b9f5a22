// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/base/linux/file_descriptor.hpp>
#include <troupe/base/result.hpp>
#include <vector>

namespace troupe {

/// An engine or platform that the application had opened before it started this worker, with its path at that time.
struct opened_plug_in {
  std::string path;
  file_descriptor file;
};

/// Returns the path from which to load the plug-in with this path: the file that the application opened, which it has
/// checked, or otherwise the file that is there now, if no other user can write it. If there is no file, the error's
/// code is ENOENT.
result<std::string> find_plug_in(const std::string& path, const std::vector<opened_plug_in>& opened);

}  // namespace troupe
