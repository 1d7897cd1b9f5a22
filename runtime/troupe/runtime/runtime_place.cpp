// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>
#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <troupe/runtime/runtime_place.hpp>

namespace troupe {
namespace {

// Returns the folder of the worker that belongs to a program in bin/ of an installed tree.
std::string folder_beside(std::string program) {
  for (int i = 0; i < 2; ++i) program.resize(std::min(program.size(), program.rfind('/')));
  return program + "/" TROUPE_RUNTIME_SUBDIR;
}

std::string folder_of_installation(const std::string& built_in) {
  constexpr std::string_view header = "/include/troupe/runtime/runtime.hpp";
  if (!built_in.ends_with(header)) return built_in;
  return built_in.substr(0, built_in.size() - header.size()) + "/" TROUPE_RUNTIME_SUBDIR;
}

}  // namespace

runtime_place find_runtime(const std::string& option, const std::string& program, const std::string& built_in) {
  if (!option.empty()) return {option, "device_options::runtime_folder names this folder"};
  const char* const set = ::secure_getenv("TROUPE_RUNTIME");
  if (set != nullptr && *set != '\0') return {set, "the environment variable TROUPE_RUNTIME names this folder"};
  const std::string beside = folder_beside(program);
  if (::access((beside + "/troupe-worker").c_str(), F_OK) == 0)
    return {beside, "this folder belongs to the program's own tree"};
  return {folder_of_installation(built_in),
          "Troupe was there when this program was built, and " + beside + " has no worker either"};
}

}  // namespace troupe
