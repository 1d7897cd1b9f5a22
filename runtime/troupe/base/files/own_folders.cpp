// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstdlib>
#include <troupe/base/files/own_folders.hpp>

namespace troupe {
namespace {

std::string set(const char* name) {
  const char* const value = ::secure_getenv(name);
  return value != nullptr ? value : "";
}

}  // namespace

std::string cache_folder() {
  if (std::string own = set("TROUPE_CACHE"); !own.empty()) return own == "off" ? "" : own;
  if (const std::string base = set("XDG_CACHE_HOME"); base.starts_with('/')) return base + "/troupe";
  if (const std::string home = set("HOME"); home.starts_with('/')) return home + "/.cache/troupe";
  return {};
}

std::vector<std::string> folders_in(std::string_view list) {
  std::vector<std::string> out;
  while (!list.empty()) {
    const std::size_t colon = std::min(list.find(':'), list.size());
    if (colon != 0) out.emplace_back(list.substr(0, colon));
    list.remove_prefix(std::min(colon + 1, list.size()));
  }
  return out;
}

std::string temporary_folder() {
  std::string place = set("TMPDIR");
  return place.starts_with('/') ? place : "/tmp";
}

}  // namespace troupe
