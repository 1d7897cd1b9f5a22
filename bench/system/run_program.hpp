// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace troupe::bench {

struct program_times {
  double wall_seconds = 0;
  double cpu_seconds = 0;  ///< used by the program and its children
  std::string said = {};   ///< the first line of its output
};

/// Runs a program, found in PATH, to its end. Throws `bad_result` with the first line of its output if it cannot be run
/// or fails.
program_times run_program(const std::vector<std::string>& line);

/// Returns the folder of this program, without a slash at the end.
std::string folder_of_this_program();

}  // namespace troupe::bench
