// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/base/file_descriptor.hpp>
#include <troupe/base/result.hpp>
#include <vector>

namespace troupe {

/// Engines and platforms that the application had opened before it started this worker, by their paths at that time.
struct opened_plug_in {
  std::string path;
  file_descriptor file;
};

/// Returns the path from which to load the plug-in that has this path: the one that the application opened, which it
/// has checked, or else the file that is there now, if no other user can write it. If there is none, the error's code
/// is ENOENT.
result<std::string> find_plug_in(const std::string& path, const std::vector<opened_plug_in>& opened);

}  // namespace troupe
