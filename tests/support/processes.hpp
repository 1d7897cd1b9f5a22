// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

namespace troupe::whole {

/// Returns the state of a process or thread, which has a folder in /proc: 'R', 'S', 'T', 'Z' and so on, or 'X' if there
/// is none.
inline char state_in(const std::string& folder) {
  std::ifstream stat(folder + "/stat");
  std::string line;
  std::getline(stat, line);  // fails, rather than throws, if the process ends meanwhile
  const std::size_t name_end = line.rfind(") ");
  return name_end == line.npos ? 'X' : line[name_end + 2];
}

/// Returns true if the process has ended. Its parent may not have reaped it yet: the library does that on another
/// thread.
inline bool has_ended(int pid) {
  const char state = state_in("/proc/" + std::to_string(pid));
  return state == 'Z' || state == 'X';
}

/// Returns true if all threads of the process have stopped, which is a little later than kill() with SIGSTOP returns.
inline bool has_stopped(int pid) {
  const std::filesystem::directory_iterator threads("/proc/" + std::to_string(pid) + "/task");
  return std::all_of(begin(threads), end(threads), [](const auto& t) { return state_in(t.path()) == 'T'; });
}

}  // namespace troupe::whole
