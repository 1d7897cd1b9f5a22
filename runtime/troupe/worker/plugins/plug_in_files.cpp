// SPDX-FileCopyrightText: The Troupe authors
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <troupe/base/files/trusted_file.hpp>
#include <troupe/base/try.hpp>
#include <troupe/worker/plugins/plug_in_files.hpp>

namespace troupe {

result<std::string> find_plug_in(const std::string& path, const std::vector<opened_plug_in>& opened) {
  const auto at = std::find_if(opened.begin(), opened.end(), [&](const opened_plug_in& o) { return o.path == path; });
  if (at != opened.end()) return path_to(at->file);
  auto file = open_trusted(path, "worker");
  if (file) return std::move(file->path);
  if (file.error().code() == ENOTDIR) return error::from_errno(reaction::fatal, "worker", "finding a plug-in", ENOENT);
  return file.error();
}

}  // namespace troupe
