// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace troupe::apps {

/// Where the running program belongs: a build tree or an installation, which look alike.
struct installation {
  std::string folder;    ///< above bin/ and libexec/
  std::string programs;  ///< libexec/troupe below it: the programs behind commands
  std::string runtime;   ///< where the worker is: the same, or what TROUPE_RUNTIME says, as for every program
  std::string option;    ///< for device_options::runtime_folder: empty where TROUPE_RUNTIME says it
  std::string worker;    ///< the path of troupe-worker
  std::string engines;   ///< the folder with the engines

  static installation of_this_program();
};

/// The whole path of the running program.
std::string path_of_this_program();

/// An engine's file. The same name in a folder that is searched earlier hides it.
struct engine_file {
  std::string library, backend, path;
  bool hidden = false;
};
/// All files named <library>.<backend>.so, in the order of the folders, sorted by name.
std::vector<engine_file> engine_files(const std::vector<std::string>& folders);

}  // namespace troupe::apps
