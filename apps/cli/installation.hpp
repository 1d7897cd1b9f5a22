// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace troupe::apps {

/// Where the running program is installed: in a build tree or an installation, which have the same folders.
struct installation {
  std::string folder;    ///< the parent of bin/ and libexec/
  std::string programs;  ///< libexec/troupe in it: the programs that commands run
  std::string runtime;   ///< the worker's folder: `programs`, or TROUPE_RUNTIME if that is set
  std::string option;    ///< value for device_options::runtime_folder; empty if TROUPE_RUNTIME is set
  std::string worker;    ///< the path of troupe-worker
  std::string engines;   ///< the folder with the engines

  static installation of_this_program();
};

/// The file of an engine. If a folder that is searched earlier has a file of the same name, this one is hidden.
struct engine_file {
  std::string library, backend, path;
  bool hidden = false;
};
/// Returns all files named <library>.<backend>.so, in the order of the folders, sorted by name.
std::vector<engine_file> engine_files(const std::vector<std::string>& folders);

}  // namespace troupe::apps
