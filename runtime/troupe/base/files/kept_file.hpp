// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/base/result.hpp>

namespace troupe {

/// Returns the path from which to load the plug-in that is, or was, at `place` (a path without symbolic links). If that
/// file was replaced or removed while this process has it open, as workers have the files that their application passed
/// on, returns the path of the open file. Otherwise returns `place`, if no other user can write that file: see
/// open_trusted.
result<std::string> path_of_kept_file(const std::string& place, const std::string& domain);

}  // namespace troupe
