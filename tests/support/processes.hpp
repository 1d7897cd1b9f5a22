// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fstream>
#include <iterator>
#include <string>

namespace troupe::whole {

/// Returns true if the process has ended. The library may not have reaped it yet: it does that on another thread.
inline bool has_ended(int pid) {
  std::ifstream stat("/proc/" + std::to_string(pid) + "/stat");
  const std::string line((std::istreambuf_iterator<char>(stat)), {});
  const std::size_t name_end = line.rfind(") ");
  return name_end == line.npos || line[name_end + 2] == 'Z' || line[name_end + 2] == 'X';
}

}  // namespace troupe::whole
