// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::jit {

/// Returns the files in a make rule as compilers write it with -MD.
std::vector<std::string> files_in_rule(std::string_view rule);

/// Returns all paths that affect what an equal compile would read next time: the files that it read, the include
/// folders, and, in each folder searched before a file's own, the path at which a file of the same name would be found
/// first. The recipe's own files, whose paths are relative, are omitted.
std::vector<std::string> paths_to_watch(std::string_view rule, const std::vector<std::string>& include_paths);

}  // namespace troupe::jit
