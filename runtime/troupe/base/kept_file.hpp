// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <troupe/base/result.hpp>

namespace troupe {

/// Returns the path from which to load a plug-in whose place is, or was, this path without symbolic links. If that file
/// was replaced or removed, but this process has it open, as a worker has what its application passed on, the open file
/// is meant. Otherwise it is the file that is there now, if no other user can write it: see open_trusted.
result<std::string> path_of_kept_file(const std::string& place, const std::string& domain);

}  // namespace troupe
