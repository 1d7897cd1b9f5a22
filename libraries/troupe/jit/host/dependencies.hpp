// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace troupe::jit {

/// The files in a rule for make, as compilers write it with -MD.
std::vector<std::string> files_in_rule(std::string_view rule);

/// All that decides what the same compile would read another time: the files that it read, the include folders, and in
/// folders that come before a file's own the place where a file of its name would be found first. Paths of the
/// recipe's own files, which are relative, are left out.
std::vector<std::string> paths_to_watch(std::string_view rule, const std::vector<std::string>& include_paths);

}  // namespace troupe::jit
