// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace troupe {

/// A folder for the worker and its engines, and the reason for it, for the error if it has no worker.
struct runtime_place {
  std::string folder, origin;
};

/// Returns `option`, or the folder that TROUPE_RUNTIME names, or that of the program's own tree, `program` being the
/// path of the program, if a worker is there, or that of the installation which `built_in` names: the folder itself, or
/// the path of runtime.hpp in it. That comes last: it is a path of the machine on which the program was built, and on
/// another one anybody may be able to make it. A program with more rights than its caller ignores TROUPE_RUNTIME.
runtime_place find_runtime(const std::string& option, const std::string& program, const std::string& built_in);

}  // namespace troupe
