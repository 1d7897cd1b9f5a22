// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>
#include <unistd.h>
#include <algorithm>
#include <apps/cli/installation.hpp>
#include <cstdlib>
#include <set>
#include <string_view>
#include <troupe/base/files/trusted_file.hpp>

namespace troupe::apps {
namespace {

std::string parent(const std::string& path) { return path.substr(0, path.rfind('/')); }

}  // namespace

installation installation::of_this_program() {
  constexpr std::string_view below = "/" TROUPE_RUNTIME_SUBDIR;
  installation here;
  // the folder of the command line, or of the program that it runs
  const std::string folder = parent(path_of_this_program());
  here.folder = folder.ends_with(below) ? folder.substr(0, folder.size() - below.size()) : parent(folder);
  here.programs = here.folder + std::string(below);
  const char* const elsewhere = ::secure_getenv("TROUPE_RUNTIME");
  const bool named = elsewhere != nullptr && *elsewhere != '\0';
  here.runtime = named ? elsewhere : here.programs;
  here.option = named ? "" : here.programs;
  here.worker = here.runtime + "/troupe-worker";
  here.engines = here.runtime + "/engines";
  return here;
}

std::vector<engine_file> engine_files(const std::vector<std::string>& folders) {
  std::vector<engine_file> all;
  std::set<std::string> seen;
  for (const std::string& folder : folders) {
    DIR* const dir = ::opendir(folder.c_str());
    if (dir == nullptr) continue;
    std::vector<std::string> names;
    while (const dirent* e = ::readdir(dir)) names.emplace_back(e->d_name);
    ::closedir(dir);
    std::sort(names.begin(), names.end());
    for (const std::string& name : names) {
      if (!name.ends_with(".so")) continue;
      const std::size_t end = name.size() - 3, dot = name.rfind('.', end - 1);
      if (dot == name.npos || dot == 0 || dot + 1 == end) continue;
      if (name.substr(0, dot) == "platform") continue;  // a platform plug-in, which the engines of its backend need
      all.push_back(
          {name.substr(0, dot), name.substr(dot + 1, end - dot - 1), folder + "/" + name, !seen.insert(name).second});
    }
  }
  return all;
}

}  // namespace troupe::apps
