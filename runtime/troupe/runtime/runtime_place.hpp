// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace troupe {

/// A folder for the worker and its engines, and where it was found, for the error if it has no worker.
struct runtime_place {
  std::string folder, origin;
};

/// Returns the first of these folders: `option`, if set; the folder that TROUPE_RUNTIME names, if set; that of the tree
/// of the program whose path is `program`, if a worker is there; that of the installation which `built_in` names, as
/// the folder itself or as the path of runtime.hpp in it. The last one comes last because it is a path of the machine
/// on which the program was built: on another machine, anybody may be able to create it. A program with more rights
/// than its caller ignores TROUPE_RUNTIME.
runtime_place find_runtime(const std::string& option, const std::string& program, const std::string& built_in);

}  // namespace troupe
