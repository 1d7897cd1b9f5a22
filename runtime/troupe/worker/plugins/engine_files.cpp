// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <dirent.h>

#include <algorithm>
#include <string_view>
#include <troupe/worker/plugins/engine_files.hpp>

namespace troupe {
namespace {

std::string listed(std::vector<std::string> names) {
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out.empty() ? "none" : out;
}

}  // namespace

std::vector<engine_file> engine_files(const std::vector<std::string>& folders) {
  std::vector<engine_file> out;
  for (const std::string& folder : folders) {
    DIR* dir = ::opendir(folder.c_str());
    if (dir == nullptr) continue;
    while (const dirent* e = ::readdir(dir)) {
      std::string_view name = e->d_name;
      if (!name.ends_with(".so")) continue;
      name.remove_suffix(3);
      const std::size_t dot = name.rfind('.');
      if (dot == name.npos || dot == 0 || dot + 1 == name.size()) continue;
      if (name.substr(0, dot) == "platform") continue;  // the platform plug-in, not an engine
      out.push_back({std::string(name.substr(0, dot)), std::string(name.substr(dot + 1))});
    }
    ::closedir(dir);
  }
  std::sort(out.begin(), out.end());
  out.erase(std::unique(out.begin(), out.end()), out.end());
  return out;
}

error no_engine(const std::string& library, const std::string& backend, const std::vector<std::string>& folders) {
  std::vector<std::string> backends, libraries, elsewhere;
  for (const engine_file& f : engine_files(folders)) {
    backends.push_back(f.backend);
    if (f.backend == backend)
      libraries.push_back(f.library);
    else if (f.library == library)
      elsewhere.push_back(f.backend);
  }
  std::string searched;
  for (const std::string& folder : folders) searched += (searched.empty() ? "" : ", ") + folder;
  std::string text = library.empty() ? "no engine <library>." : "library " + library + ": no engine " + library + ".";
  text += backend + ".so in " + (searched.empty() ? "any folder, because none was given" : searched);
  if (library.empty()) text += " for this request's library (its name up to the dot)";
  if (libraries.empty())
    return error(reaction::unsupported, "worker",
                 std::move(text) + ": no engine for backend \"" + backend +
                     "\" here; backends here: " + listed(std::move(backends)) +
                     ". Name one of them in device_options::engine, or a folder in device_options::engine_folders");
  text += "; the " + backend + " backend has: " + listed(std::move(libraries));
  if (!elsewhere.empty()) text += "; backends that have " + library + ": " + listed(std::move(elsewhere));
  return error(reaction::unsupported, "worker",
               std::move(text) + ". Install the engine, or name its folder in device_options::engine_folders");
}

}  // namespace troupe
